import type { StreamKeys } from '../auth/stream-keys.ts'
import { fieldsOf, noteOf, TRANSFER_TYPES, type TransferType } from '../contract/resources/transfer.ts'
import { allOfType, type StoredRow } from '../store/queries/transfer.ts'
import type { Store } from '../store/store.ts'

/** Rows that are read at once: whoever else is served by this process waits no longer than for these. */
const AT_ONCE = 500

export interface ExportOptions {
  /** Absent: no secrets. */
  readonly streamKeys?: StreamKeys | undefined
}

/**
 * Everything that the store holds, as lines, in one consistent view. `write` is awaited, so that nothing piles up; the view
 * is open as long as it takes.
 */
export function exportLines(
  store: Store,
  { streamKeys }: ExportOptions,
  write: (text: string, lines: number) => unknown,
): Promise<number> {
  return store.snapshot(async db => {
    let count = 0
    for (const type of TRANSFER_TYPES) {
      const lineOf = writerOf(type, streamKeys)
      for await (const rows of allOfType(db, type, AT_ONCE)) {
        count += rows.length
        let text = ''
        for (const row of rows) text += `${lineOf(row)}\n`
        await write(text, count)
      }
    }
    return count
  })
}

type Field = (row: StoredRow) => unknown

const isYes = (name: string) => (row: StoredRow) => row[name] === 1
const json = (name: string) => (row: StoredRow) => JSON.parse(String(row[name]))

/** Fields that are not a column as it is. */
const READ: Readonly<Record<string, Readonly<Record<string, Field>>>> = {
  client: {
    redirect_uris: json('redirect_uris'),
    implicit_grant: isYes('implicit_grant'),
    device_flow: isYes('device_flow'),
  },
  channel: { tags: json('tags'), is_mature: isYes('is_mature'), vod_enabled: isYes('vod_enabled') },
  entitlement: { user_deleted: row => (row.has_user === null ? true : undefined) },
  user: { password: () => undefined },
}

/** Writes the fields of a type in the order of their declaration. A secret that there is not is left out. */
function writerOf(type: TransferType, streamKeys: StreamKeys | undefined): (row: StoredRow) => string {
  const fields = Object.entries(fieldsOf(type)).flatMap(([name, schema]): [string, Field][] => {
    if (name === 'type') return [[name, () => type]]
    if (noteOf(schema, 'secret') === undefined) return [[name, READ[type]?.[name] ?? (row => row[name])]]
    if (streamKeys === undefined) return []
    if (name === 'stream_key') return [[name, row => openKey(streamKeys, row)]]
    return [[name, row => row[name] ?? undefined]]
  })
  return row => {
    const line: Record<string, unknown> = {}
    for (const [name, read] of fields) line[name] = read(row)
    return JSON.stringify(line)
  }
}

function openKey(streamKeys: StreamKeys, row: StoredRow): string {
  const { id, version, key_id, sealed } = row
  const stored = { version: Number(version), key_id: String(key_id), sealed: String(sealed) }
  const key = streamKeys.open(String(id), stored)
  if (key === undefined) throw new SealedKey(String(id))
  return key
}

/** A stream key cannot be opened: the master keys are others than those that it was sealed with. */
export class SealedKey extends Error {
  override readonly name = 'SealedKey'

  constructor(user_id: string) {
    super(`the stream key of the user "${user_id}" does not open with these master keys`)
  }
}
