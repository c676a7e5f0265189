import type { Operation } from '../judge/operation.ts'
import type { EntitlementGroup, World } from '../world.ts'
import { type Caller, outcomeOf } from './caller.ts'

/** Sets all entitlements of a group to one status, in the order given, and writes down what was seen. */
export async function updateGroup(
  caller: Caller,
  { appToken }: World,
  group: EntitlementGroup,
  write: { process: string; status: string; ids?: readonly string[] },
): Promise<Operation> {
  const { process, status, ids = group.ids } = write
  const body = { entitlement_ids: ids, fulfillment_status: status }
  const answer = await caller.ask('update', 'PATCH', '/helix/entitlements/drops', { token: appToken, body })
  const { invoked, returned } = answer
  return { kind: 'write', key: group.key, process, status, invoked, returned, outcome: outcomeOf(answer) }
}

export async function readGroup(
  caller: Caller,
  { appToken }: World,
  group: EntitlementGroup,
  process: string,
): Promise<Operation> {
  const ids = group.ids.map(id => `id=${id}`).join('&')
  const answer = await caller.ask('read', 'GET', `/helix/entitlements/drops?${ids}`, { token: appToken })
  const { invoked, returned } = answer
  const outcome = outcomeOf(answer)
  const listed: { fulfillment_status: string; last_updated: string }[] =
    outcome === 'ok' ? answer.body.data : []
  const rows = listed.map(each => ({ status: each.fulfillment_status, version: each.last_updated }))
  return { kind: 'read', key: group.key, process, rows, invoked, returned, outcome }
}
