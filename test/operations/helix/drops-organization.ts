/** An organization made for one proof, so that its entitlements are known to the last row. */
import type { TestServer } from '../../support/server.ts'
import { newClient, tokenOf } from './callers.ts'
import type { Row } from './page-rules.ts'

export interface DropsOrganization {
  readonly id: string
  readonly game_id: string
  readonly benefit_id: string
  readonly client_id: string
  /** An app token of the organization's client. */
  readonly token: string
  /** Grants one entitlement per user named, at the time given if one is. */
  grant(user_ids: readonly string[], timestamp?: string): Promise<Row[]>
  /** A token with every scope of a user, for the organization's client. */
  userToken(user_id: string): Promise<string>
}

export async function newOrganization(server: TestServer): Promise<DropsOrganization> {
  const [{ id }] = await server.control('POST', '/organizations', { name: 'Made for a proof' })
  const [game] = await server.control('POST', '/games', { name: 'Proof', organization_id: id })
  const [benefit] = await server.control('POST', '/benefits', { name: 'Proof', organization_id: id })
  const client_id = await newClient(server, id)
  return {
    id,
    game_id: game.id,
    benefit_id: benefit.id,
    client_id,
    token: await tokenOf(server, { client_id }),
    grant: (user_ids, timestamp) =>
      server.control('POST', '/entitlements', {
        grants: user_ids.map(user_id => ({
          user_id,
          benefit_id: benefit.id,
          game_id: game.id,
          ...(timestamp !== undefined && { timestamp }),
        })),
      }),
    userToken: user_id =>
      tokenOf(server, { client_id, user_id, scopes: ['user:read:entitlements', 'user:manage:entitlements'] }),
  }
}

/** Entitlements as the operator sees them, of whatever organization. */
export function entitlementsOf(server: TestServer, query: Record<string, string>): Promise<Row[]> {
  return server.control('GET', `/entitlements?${new URLSearchParams({ first: '100', ...query })}`)
}
