import type { Scenario } from './scenario.ts'

export const validateToken: Scenario = {
  name: 'validate-token',
  work: 'ValidateToken',
  goals: [{ against: 'bare server' }],
  connections: 32,
  prepare: async ({ callers }) => callers.map(({ token }) => ({ path: '/oauth2/validate', token })),
  isRight: answer => 'client_id' in answer,
}
