import type { Scenario } from './scenario.ts'

export const getImage: Scenario = {
  name: 'get-image',
  work: 'a cached picture, PNG of 320x180',
  goals: [{ against: 'bare server', atLeast: 0.8 }],
  connections: 32,
  mediaType: 'image/png',
  prepare: async () => [{ path: '/images/channels/141981764-320x180.png' }],
}
