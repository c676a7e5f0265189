import { type Refusal, refuse } from '../../contract/problem.ts'
import type {
  Entitlement,
  EntitlementUpdate,
  FulfillmentStatus,
} from '../../contract/resources/entitlement.ts'
import type { EntitlementReach } from '../../domain/access.ts'
import {
  distinctIds,
  groupByStatus,
  movedForward,
  type UpdateCandidate,
  updateStatus,
} from '../../domain/entitlement.ts'
import { isoMillis } from '../../kit/clock.ts'
import type { MaybePromise } from '../../kit/maybe-promise.ts'
import { must } from '../../kit/must.ts'
import type { Transaction } from '../database.ts'
import { entitlementColumns, entitlementSubject } from '../queries/entitlements.ts'
import { isOneOf, lockRows, notByIndex, sql, tableOf } from '../sql/tag.ts'
import { emitGrants, emitStatusUpdates } from './entitlement-events.ts'
import { refuseUnknown } from './references.ts'

export interface Grant {
  readonly id: string
  readonly user_id: string
  readonly benefit_id: string
  readonly game_id: string
  readonly timestamp: string
  /** Whether the operator sent the timestamp: only then must it match on a repeated grant. */
  readonly timestampGiven: boolean
}

/** Grants entitlements, all or none. A repeated id with the same content returns the existing entitlement. */
export async function grantEntitlements(
  tx: Transaction,
  args: { grants: readonly Grant[] },
): Promise<Entitlement[] | Refusal<'unknown_reference' | 'refused_reference' | 'entitlement_conflict'>> {
  const { grants } = args
  const unknown = await refuseUnknown(tx, {
    user: grants.map(grant => grant.user_id),
    benefit: grants.map(grant => grant.benefit_id),
    game: grants.map(grant => grant.game_id),
  })
  if (unknown !== undefined) return unknown

  const owners = await organizationsOf(tx, grants)
  const rows = new Map<string, Entitlement>()
  for (const row of await entitlementsWithIds(
    tx,
    grants.map(grant => grant.id),
  ))
    rows.set(row.id, row)

  const fresh: (Entitlement & { organization_id: string })[] = []
  for (const grant of grants) {
    const organization_id = must(owners.ofBenefit.get(grant.benefit_id), 'the organization of a benefit')
    const ofGame = owners.ofGame.get(grant.game_id) ?? null
    if (ofGame !== null && ofGame !== organization_id) {
      return refuse(
        'refused_reference',
        `The game "${grant.game_id}" is not managed by the organization of the benefit "${grant.benefit_id}".`,
      )
    }
    const known = rows.get(grant.id)
    if (known === undefined) {
      const { timestampGiven: _, ...content } = grant
      const row: Entitlement = {
        ...content,
        fulfillment_status: 'CLAIMED',
        last_updated: grant.timestamp,
        updated_at: grant.timestamp,
      }
      rows.set(grant.id, row)
      fresh.push({ ...row, organization_id })
    } else if (!isRepeat(known, grant)) return refuse('entitlement_conflict', grant.id)
  }

  await tx.run(
    sql`insert into entitlements (id, organization_id, benefit_id, user_id, game_id, timestamp, fulfillment_status, last_updated)
        select id, organization_id, benefit_id, user_id, game_id, timestamp, fulfillment_status, last_updated
        from ${tableOf(fresh, ['id', 'organization_id', 'benefit_id', 'user_id', 'game_id', 'timestamp', 'fulfillment_status', 'last_updated'])} as granted`,
  )
  recordGrants(tx, fresh)
  await emitGrants(tx, fresh)
  return grants.flatMap(grant => rows.get(grant.id) ?? [])
}

/** Entitlements granted together are recorded as one entry. */
function recordGrants(tx: Transaction, granted: readonly Entitlement[]): void {
  const [only] = granted
  if (only === undefined) return
  if (granted.length === 1) tx.record({ ...entitlementSubject(only), after: 'CLAIMED' })
  else tx.record({ subject: 'entitlements', after: { granted: granted.map(row => row.id) } })
}

function isRepeat(known: Entitlement, grant: Grant): boolean {
  return (
    known.user_id === grant.user_id &&
    known.benefit_id === grant.benefit_id &&
    known.game_id === grant.game_id &&
    (!grant.timestampGiven || known.timestamp === grant.timestamp)
  )
}

function entitlementsWithIds(tx: Transaction, ids: readonly string[]): MaybePromise<Entitlement[]> {
  return tx.all<Entitlement>(sql`${entitlementColumns} where ${isOneOf(sql`id`, ids)}`)
}

async function organizationsOf(tx: Transaction, grants: readonly Grant[]) {
  const benefits = await tx.all<{ id: string; organization_id: string }>(
    sql`select id, organization_id from benefits where ${isOneOf(
      sql`id`,
      grants.map(grant => grant.benefit_id),
    )}`,
  )
  const games = await tx.all<{ id: string; organization_id: string | null }>(
    sql`select id, organization_id from games where ${isOneOf(
      sql`id`,
      grants.map(grant => grant.game_id),
    )}`,
  )
  return {
    ofBenefit: new Map(benefits.map(row => [row.id, row.organization_id])),
    ofGame: new Map(games.map(row => [row.id, row.organization_id])),
  }
}

/** `last_updated` only moves forward: the history of an entitlement stays in order even if node clocks disagree. */
function recordStatus(
  tx: Transaction,
  before: UpdateCandidate | undefined,
  after: FulfillmentStatus,
  last_updated: string,
): void {
  if (before === undefined) return
  tx.record({ ...entitlementSubject(before), at: last_updated, before: before.fulfillment_status, after })
}

/** Spec 3 and 7: sets the status of entitlements the caller may change, and reports on every id. Locks rows in id order. */
export async function updateEntitlements(
  tx: Transaction,
  args: {
    ids: readonly string[]
    fulfillment_status: FulfillmentStatus
    reach: EntitlementReach
    /** Entitlements whose write must fail: lets a demo produce UPDATE_FAILED. */
    failing: readonly string[]
    now: number
  },
): Promise<EntitlementUpdate[]> {
  const echoes = distinctIds(args.ids)
  const rows = await tx.all<UpdateCandidate & { game_id: string }>(
    sql`select id, organization_id, user_id, game_id, timestamp, fulfillment_status, last_updated from entitlements
        where ${isOneOf(sql`id`, [...echoes.keys()])} order by id${lockRows}`,
  )
  const found = new Map(rows.map(row => [row.id, row]))
  const failing = new Set(args.failing)
  const decided = [...echoes].map(([id, echo]) => {
    return { id, echo, status: updateStatus(id, found.get(id), args.reach, failing) }
  })

  const now = isoMillis(args.now)
  const succeeded = decided.filter(each => each.status === 'SUCCESS').map(each => each.id)
  const moved = Map.groupBy(succeeded, id =>
    movedForward(must(found.get(id), 'an updated row').last_updated, now),
  )
  for (const [last_updated, ids] of moved) {
    await tx.run(
      sql`update entitlements set fulfillment_status = ${args.fulfillment_status}, last_updated = ${last_updated}
          where ${isOneOf(sql`id`, ids)} and ${notByIndex('organization_id')} = ${args.reach.organization_id}`,
    )
    for (const id of ids) recordStatus(tx, found.get(id), args.fulfillment_status, last_updated)
    const updated = ids.map(id => {
      const { user_id, game_id, fulfillment_status: previous_status } = must(found.get(id), 'an updated row')
      const { fulfillment_status } = args
      return { id, user_id, game_id, fulfillment_status, previous_status, updated_at: last_updated }
    })
    await emitStatusUpdates(tx, args.reach.organization_id, updated)
  }
  return groupByStatus(decided.map(({ echo, status }) => [echo, status] as const))
}
