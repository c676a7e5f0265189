import { isRefusal } from '../../contract/problem.ts'
import type { TransferLine } from '../../contract/resources/transfer.ts'
import { MAX_EDITORS } from '../../contract/resources/world.ts'
import { inLabelOrder } from '../../domain/content-labels.ts'
import { checkTags, tagsToStore } from '../../domain/tags.ts'
import { isoSeconds } from '../../kit/clock.ts'
import { decimalId } from '../../kit/id.ts'
import { changeChannel } from '../commands/channels.ts'
import { putFollows } from '../commands/follows.ts'
import type { Database } from '../database.ts'
import { channelColumns } from '../queries/world.ts'
import { isOneOf, lockRows, sql, tableOf } from '../sql/tag.ts'
import { type EarlierLines, hasValues, type StoredLine, type TransferResource } from './resource.ts'

export const channel: TransferResource<'channel'> = {
  table: 'channels',
  key: ['user_id'],
  select: channelColumns,
  /** Refuses tags that break the rule, unless the channel has exactly them (D-80). */
  conflicts: async (db, lines) => {
    const bad = lines.filter(line => isRefusal(checkTags(line.tags ?? [])))
    if (bad.length === 0) return () => undefined
    const users = bad.map(line => line.user_id)
    const rows = await db.all<{ user_id: string; tags: string }>(
      sql`select user_id, tags from channels where ${isOneOf(sql`user_id`, users)}`,
    )
    const stored = new Map(rows.map(row => [row.user_id, JSON.parse(row.tags) as string[]]))
    return ({ user_id, tags = [] }) => {
      const checked = tagsToStore(stored.get(user_id) ?? [], tags)
      return isRefusal(checked) ? `the field "tags" was malformed: ${checked.details[1]}` : undefined
    }
  },
  isCurrent: (row, line) => hasValues('channel', row, asStored(row, line)),
  putEach: (tx, { line }, now) => changeChannel(tx, { ...line, video_id: decimalId(now) }),
}

/** The lists of a line as the command stores them. */
function asStored(row: StoredLine<'channel'>, line: TransferLine<'channel'>) {
  const { tags, content_classification_labels: labels } = line
  return {
    ...line,
    tags: tags && tagsToStore(row.tags ?? [], tags),
    content_classification_labels: labels && inLabelOrder(labels),
  }
}

export const editor: TransferResource<'editor'> = {
  table: 'editors',
  key: ['user_id', 'editor_id'],
  conflicts: refuseTooManyEditors,
  putAll: async (tx, changes, now) => {
    const lines = lastOfEach(changes, ({ user_id, editor_id }) => `${user_id} ${editor_id}`)
    const rows = lines.map(({ user_id, editor_id, created_at = isoSeconds(now) }) => {
      return { user_id, editor_id, created_at }
    })
    await tx.run(
      sql`insert into editors (user_id, editor_id, created_at)
          select user_id, editor_id, created_at
          from ${tableOf(rows, ['user_id', 'editor_id', 'created_at'])} as given where 1 = 1
          on conflict (user_id, editor_id) do update set created_at = excluded.created_at`,
    )
  },
}

/** Refuses editors beyond the maximum of a channel, those of the store and of the file counted together. */
async function refuseTooManyEditors(
  db: Database,
  lines: readonly TransferLine<'editor'>[],
  earlier: EarlierLines | undefined,
): Promise<(line: TransferLine<'editor'>) => string | undefined> {
  const users = [...new Set(lines.map(line => line.user_id))]
  // Only in the transaction of the import are there no earlier lines: nothing may be added between the count and its end.
  if (earlier === undefined)
    await db.all(
      sql`select user_id from channels where ${isOneOf(sql`user_id`, users)} order by user_id${lockRows}`,
    )
  const counts = await db.all<{ user_id: string; editors: number | string }>(
    sql`select user_id, count(*) as editors from editors where ${isOneOf(sql`user_id`, users)} group by user_id`,
  )
  const pairs = lines.map(({ user_id, editor_id }) => ({ user_id, editor_id }))
  const known = await db.all<{ user_id: string; editor_id: string }>(
    sql`select user_id, editor_id from editors where (user_id, editor_id) in
          (select user_id, editor_id from ${tableOf(pairs, ['user_id', 'editor_id'])} as given)`,
  )
  const stored = new Map(counts.map(({ user_id, editors }) => [user_id, Number(editors)]))
  const seen = new Set(known.map(({ user_id, editor_id }) => `${user_id} ${editor_id}`))
  const added = new Map<string, number>()
  return ({ user_id, editor_id }) => {
    const pair = `${user_id} ${editor_id}`
    if (seen.has(pair) || earlier?.has('editor', pair)) return undefined
    const place = 1 + (added.get(user_id) ?? placesTaken(user_id, earlier))
    if ((stored.get(user_id) ?? 0) + place > MAX_EDITORS)
      return `the channel of the user "${user_id}" has ${MAX_EDITORS} editors already`
    seen.add(pair)
    added.set(user_id, place)
    earlier?.add('editor', pair)
    earlier?.add('place of an editor', user_id, String(place))
    return undefined
  }
}

/** How many editors earlier lines of the file add to a channel: they take places from 1 on without a gap. */
function placesTaken(user_id: string, earlier: EarlierLines | undefined): number {
  let [taken, free] = [0, MAX_EDITORS + 1]
  while (earlier !== undefined && free - taken > 1) {
    const place = (taken + free) >> 1
    if (earlier.has('place of an editor', user_id, String(place))) taken = place
    else free = place
  }
  return taken
}

export const follow: TransferResource<'follow'> = {
  table: 'follows',
  key: ['user_id', 'broadcaster_id'],
  putAll: async (tx, changes, now) => {
    const follows = lastOfEach(changes, ({ user_id, broadcaster_id }) => `${user_id} ${broadcaster_id}`)
    await putFollows(tx, { follows, now })
  },
}

/** If a file contains the same relation twice, the later line counts. */
function lastOfEach<Line>(
  changes: readonly { readonly line: Line }[],
  keyOf: (line: Line) => string,
): Line[] {
  return [...new Map(changes.map(({ line }) => [keyOf(line), line])).values()]
}
