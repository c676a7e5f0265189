/** Who authorizes an event subscription (D-133). */
import type { EventType } from '../../contract/events/event-type.ts'
import { type Refusal, refuse } from '../../contract/problem.ts'
import type { TransportMethod } from '../../contract/resources/event-subscription.ts'
import type { Condition } from '../../domain/events/event-subscription.ts'
import type { Transaction } from '../database.ts'
import { authorizedAmong, hasAuthorized } from '../queries/event-subscriptions.ts'
import { lockRows, sql } from '../sql/tag.ts'

/** The properties of a new subscription that decide whether it is authorized. */
interface Wanted {
  readonly client_id: string
  /** The user of the token of a WebSocket, and its scopes. */
  readonly owner: string
  readonly scopes: readonly string[]
  readonly method: TransportMethod
  readonly condition: Condition
}

type EditorAccess = Extract<EventType['access'], { readonly kind: 'editor' }>

/** The user whose authorization the subscription depends on, if any. */
export async function authorize(
  tx: Transaction,
  type: EventType,
  wanted: Wanted,
  now: number,
): Promise<{ by: string | null } | Refusal<'subscription_forbidden'>> {
  const { access } = type
  if (access.kind === 'anyone') return { by: null }
  if (access.kind === 'organization') {
    const client = await tx.get<{ organization_id: string | null }>(
      sql`select organization_id from clients where id = ${wanted.client_id}`,
    )
    return client?.organization_id === wanted.condition.organization_id
      ? { by: null }
      : refuse('subscription_forbidden', 'the client belongs to another organization')
  }
  if (access.kind === 'client')
    return wanted.condition.client_id === wanted.client_id
      ? { by: null }
      : refuse('subscription_forbidden', 'client_id must be the client of the token')
  const broadcaster = wanted.condition.broadcaster_user_id ?? ''
  const named = access.as === undefined ? undefined : wanted.condition[access.as]
  if (wanted.method === 'websocket') {
    if (named !== undefined && named !== wanted.owner)
      return refuse('subscription_forbidden', `${access.as} must be the user of the token`)
    if (!wanted.scopes.includes(access.scope))
      return refuse('subscription_forbidden', `the token needs the scope ${access.scope}`)
    return (await isOwnerOrEditor(tx, broadcaster, wanted.owner))
      ? { by: wanted.owner }
      : refuse('subscription_forbidden', 'the user must be the broadcaster or an editor')
  }
  const by = await findAuthorizer(tx, access, wanted, now)
  if (by !== undefined) return { by }
  return refuse(
    'subscription_forbidden',
    `the broadcaster or an editor has to authorize the application with the scope ${access.scope}`,
  )
}

/** The broadcaster or an editor who has authorized the client of a webhook; the broadcaster first, who stays longest. */
async function findAuthorizer(
  tx: Transaction,
  access: EditorAccess,
  { client_id, condition }: { readonly client_id: string; readonly condition: Condition },
  now: number,
): Promise<string | undefined> {
  const broadcaster = condition.broadcaster_user_id ?? ''
  const named = access.as === undefined ? undefined : condition[access.as]
  const authorization = { client_id, scope: access.scope, now }
  const editors = sql`user_id in (select editor_id from editors where user_id = ${broadcaster})`
  const groups = named === undefined ? [sql`user_id = ${broadcaster}`, editors] : [sql`user_id = ${named}`]
  for (const users of groups) {
    const by = await authorizedAmong(tx, users, authorization)
    if (by !== undefined && (await isOwnerOrEditor(tx, broadcaster, by))) return by
  }
  return undefined
}

/** An editor is locked, so that a removal at the same time ends the subscription. */
async function isOwnerOrEditor(tx: Transaction, broadcaster: string, user: string): Promise<boolean> {
  if (user === broadcaster) return true
  const editor = await tx.get(
    sql`select 1 as found from editors where user_id = ${broadcaster} and editor_id = ${user}${lockRows}`,
  )
  return editor !== undefined
}

/** A subscription that depends on the authorization of a user. */
export interface Depending {
  readonly id: string
  readonly client_id: string
  readonly owner: string
  readonly type: string
  readonly version: string
  readonly condition: string
  readonly method: TransportMethod
}

/** The user who authorizes it now, if there is one. */
export async function stillAuthorizedBy(
  tx: Transaction,
  access: EditorAccess,
  { client_id, owner, method, ...row }: Depending,
  now: number,
): Promise<string | undefined> {
  const condition = JSON.parse(row.condition) as Condition
  if (method === 'webhook') return findAuthorizer(tx, access, { client_id, condition }, now)
  const isAuthorized =
    (await isOwnerOrEditor(tx, condition.broadcaster_user_id ?? '', owner)) &&
    (await hasAuthorized(tx, { client_id, user_id: owner, scope: access.scope, now }))
  return isAuthorized ? owner : undefined
}
