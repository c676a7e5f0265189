import { isRefusal } from '../../contract/problem.ts'
import { MAX_EDITORS } from '../../contract/resources/channel.ts'
import { inLabelOrder } from '../../domain/content-labels.ts'
import { checkTags } from '../../domain/tags.ts'
import { decimalId } from '../../kit/id.ts'
import { isoMillis, isoSeconds } from '../../kit/time/clock.ts'
import { changeChannel } from '../commands/channels.ts'
import { putFollows } from '../commands/follows.ts'
import { MAX_EXTRA_KEYS, writeExtraKey } from '../commands/stream-keys.ts'
import { channelColumns } from '../queries/channels.ts'
import { isOneOf, sql } from '../sql/tag.ts'
import { atMost } from './at-most.ts'
import {
  asGiven,
  type Check,
  type CommandLines,
  hasValues,
  type ImportLine,
  oneByOne,
  type RowLines,
  type StoredLine,
} from './line-type.ts'
import { storedRows } from './stored-rows.ts'
import { writeRows } from './write-rows.ts'

const tagsAreAllowed: Check<'channel'> = async () => line => {
  const tags = checkTags(line.tags ?? [])
  return isRefusal(tags) ? `the field "tags" was malformed: ${tags.details[1]}` : undefined
}

export const channel: CommandLines<'channel'> = {
  ...storedRows('channel', { table: 'channels', key: ['user_id'], select: channelColumns.select }),
  writes: 'commands',
  checks: [tagsAreAllowed],
  asStored: line => {
    const { tags, content_classification_labels: labels } = line
    return {
      ...line,
      ...(tags && { tags: checkTags(tags) as string[] }),
      ...(labels && { content_classification_labels: inLabelOrder(labels) as typeof labels }),
    }
  },
  put: oneByOne((tx, { line }, now) => changeChannel(tx, { ...line, video_id: decimalId(now) })),
}

/** Without a key in its line, a key keeps its value, and a new one gets a random value. */
const hasKey = (row: StoredLine<'stream_key'>, { given_key }: ImportLine<'stream_key'>): boolean =>
  given_key === undefined || given_key.lookup_hashes.includes(row.lookup_hash)

export const stream_key: CommandLines<'stream_key'> = {
  ...storedRows('stream_key', {
    table: 'extra_stream_keys',
    key: ['user_id', 'name'],
    select: sql`select user_id, name, created_at, valid_until, name as slot, key_id, sealed, lookup_hash
      from extra_stream_keys`,
  }),
  writes: 'commands',
  checks: [atMost(MAX_EXTRA_KEYS, 'extra stream keys', 'extra_stream_keys')],
  claims: ({ stream_key }) =>
    stream_key === undefined
      ? []
      : [{ what: ['key', stream_key], why: () => 'its stream key is in this file already' }],
  isCurrent: (row, line) => hasKey(row, line) && hasValues(row, line),
  asStored: asGiven,
  put: oneByOne(async (tx, { line, row }, now) => {
    const { user_id, name } = line
    const { key_id, sealed, lookup_hash } =
      row !== undefined && hasKey(row, line) ? row : (line.given_key?.stored ?? line.random_key)
    // A key that the channel has under another name is renamed.
    const hashes = line.given_key?.lookup_hashes ?? [lookup_hash]
    await tx.run(
      sql`delete from extra_stream_keys
          where user_id = ${user_id} and name <> ${name} and ${isOneOf(sql`lookup_hash`, hashes)}`,
    )
    const created_at = line.created_at ?? row?.created_at ?? isoMillis(now)
    const valid_until = (line.valid_until === undefined ? row?.valid_until : line.valid_until) ?? null
    await writeExtraKey(tx, { user_id, name, key_id, sealed, lookup_hash, created_at, valid_until })
    return undefined
  }),
}

const editors = storedRows('editor', { table: 'editors', key: ['user_id', 'editor_id'] })

export const editor: RowLines<'editor'> = {
  ...editors,
  writes: 'rows',
  checks: [atMost(MAX_EDITORS, 'editors', 'editors')],
  put: writeRows(editors, { defaults: async (_tx, _lines, now) => () => ({ created_at: isoSeconds(now) }) }),
}

export const follow: RowLines<'follow'> = {
  ...storedRows('follow', { table: 'follows', key: ['user_id', 'broadcaster_id'] }),
  writes: 'rows',
  put: async (tx, changes, now) => {
    await putFollows(tx, { follows: changes.map(({ line }) => line), now })
  },
}
