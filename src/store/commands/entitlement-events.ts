/** The events about entitlements. */
import type { Entitlement, FulfillmentStatus } from '../../contract/resources/entitlement.ts'
import type { Lookup } from '../combinable.ts'
import type { Transaction } from '../database.ts'
import { sql } from '../sql/tag.ts'
import { findNames } from './channel-events.ts'
import { emit } from './emit.ts'

/** An entitlement that was granted, perhaps in a campaign. */
interface GrantedEntitlement
  extends Pick<Entitlement, 'id' | 'user_id' | 'game_id' | 'benefit_id' | 'timestamp'> {
  readonly organization_id: string
  readonly campaign_id?: string | undefined
}

const gameNames: Lookup<{ id: string; name: string }> = {
  column: 'id',
  select: sql`select id, name from games`,
  by: sql`id`,
}

export async function emitGrants(tx: Transaction, granted: readonly GrantedEntitlement[]): Promise<void> {
  const subjects = granted.map(row => row.organization_id)
  await emit(tx, 'drop.entitlement.grant', subjects, async () => {
    const ids = <Name extends 'user_id' | 'game_id'>(name: Name) => [
      ...new Set(granted.map(row => row[name])),
    ]
    const [users, games] = await Promise.all([
      findNames(tx, ids('user_id')),
      tx.lookUp(gameNames, ids('game_id')),
    ])
    const gameWith = new Map(games.map(row => [row.id, row.name]))
    return granted.map(
      ({ id, organization_id, game_id, user_id, benefit_id, timestamp, campaign_id = '' }) => ({
        subject: organization_id,
        event: {
          organization_id,
          category_id: game_id,
          category_name: gameWith.get(game_id) ?? '',
          campaign_id,
          user_id,
          user_name: users.get(user_id)?.display_name ?? '',
          user_login: users.get(user_id)?.login ?? '',
          entitlement_id: id,
          benefit_id,
          created_at: timestamp,
        },
      }),
    )
  })
}

interface StatusUpdate {
  readonly id: string
  readonly user_id: string
  readonly game_id: string
  readonly fulfillment_status: FulfillmentStatus
  readonly previous_status: FulfillmentStatus
  readonly updated_at: string
}

export async function emitStatusUpdates(
  tx: Transaction,
  organization_id: string,
  updates: () => readonly StatusUpdate[],
): Promise<void> {
  await emit(tx, 'strand.entitlement.update', [organization_id], async () =>
    updates().map(({ id, ...update }) => ({
      subject: organization_id,
      event: { entitlement_id: id, ...update },
    })),
  )
}
