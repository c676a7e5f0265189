import type { TransferLine } from '../../contract/resources/transfer.ts'
import type { Transaction } from '../database.ts'
import { knownPairs } from '../queries/transfer.ts'
import { sql, tableOf } from '../sql/tag.ts'
import { putFollows } from './follows.ts'
import type { Fate } from './import.ts'

/** Relations are there or not: what is there already, in the store or in a line before, is left alone. */
function fatesOf(keys: readonly string[], known: Set<string>): Fate[] {
  return keys.map(key => {
    if (known.has(key)) return 'unchanged'
    known.add(key)
    return 'created'
  })
}

export async function importMembers(
  tx: Transaction,
  lines: readonly TransferLine<'member'>[],
): Promise<Fate[]> {
  const pairs = lines.map(({ organization_id, user_id }) => ({ organization_id, user_id }))
  const known = await knownPairs(tx, 'members', ['organization_id', 'user_id'], pairs)
  await tx.run(
    sql`insert into members (organization_id, user_id)
        select distinct pair.organization_id, pair.user_id
        from ${tableOf(pairs, ['organization_id', 'user_id'])} as pair where 1 = 1
        on conflict (organization_id, user_id) do nothing`,
  )
  return fatesOf(
    pairs.map(pair => `${pair.organization_id} ${pair.user_id}`),
    known,
  )
}

export async function importEditors(
  tx: Transaction,
  lines: readonly TransferLine<'editor'>[],
): Promise<Fate[]> {
  const pairs = lines.map(({ user_id, editor_id }) => ({ user_id, editor_id }))
  const known = await knownPairs(tx, 'editors', ['user_id', 'editor_id'], pairs)
  await tx.run(
    sql`insert into editors (user_id, editor_id)
        select distinct pair.user_id, pair.editor_id
        from ${tableOf(pairs, ['user_id', 'editor_id'])} as pair where 1 = 1
        on conflict (user_id, editor_id) do nothing`,
  )
  return fatesOf(
    pairs.map(pair => `${pair.user_id} ${pair.editor_id}`),
    known,
  )
}

export async function importFollows(
  tx: Transaction,
  lines: readonly TransferLine<'follow'>[],
): Promise<Fate[]> {
  const pairs = lines.map(({ user_id, broadcaster_id }) => ({ user_id, broadcaster_id }))
  const known = await knownPairs(tx, 'follows', ['user_id', 'broadcaster_id'], pairs)
  const fresh = pairs.filter(pair => !known.has(`${pair.user_id} ${pair.broadcaster_id}`))
  const fates = fatesOf(
    pairs.map(pair => `${pair.user_id} ${pair.broadcaster_id}`),
    known,
  )
  if (fresh.length > 0) await putFollows(tx, { follows: fresh })
  return fates
}
