import type { StreamKeys } from '../auth/stream-keys.ts'
import { findNote, listFields, TRANSFER_TYPES, type TransferLine } from '../contract/resources/transfer.ts'
import { OperatorError } from '../kit/operator-error.ts'
import type { Store } from '../store/store.ts'
import type { StoredLine } from '../store/transfer/line-type.ts'
import { LINE_TYPES } from '../store/transfer/line-types.ts'

/** Rows per read, which bounds how long other requests of this process wait. */
const BATCH_SIZE = 500

/**
 * Exports the whole store as lines, in one consistent view. Each chunk is written before the next is read, and the view
 * stays open until the end. Secrets are included only with `streamKeys`.
 */
export function exportLines(
  store: Store,
  { streamKeys }: { readonly streamKeys?: StreamKeys | undefined },
  write: (text: string, lines: number) => unknown,
): Promise<number> {
  return store.snapshot(async db => {
    let count = 0
    for (const type of TRANSFER_TYPES) {
      const fields = Object.entries(listFields(type))
        .filter(([, schema]) => streamKeys !== undefined || findNote(schema, 'secret') === undefined)
        .map(([field]) => field)
      for await (const lines of LINE_TYPES[type].all(db, BATCH_SIZE)) {
        count += lines.length
        let text = ''
        for (const line of lines) text += `${formatLine(withStreamKey(line, streamKeys), fields)}\n`
        await write(text, count)
      }
    }
    return count
  })
}

/** These fields in this order; the replacer of `JSON.stringify` takes twice as long. */
function formatLine(line: TransferLine, fields: readonly string[]): string {
  const ordered: Record<string, unknown> = {}
  for (const field of fields) ordered[field] = (line as Record<string, unknown>)[field]
  return JSON.stringify(ordered)
}

function withStreamKey(line: StoredLine, streamKeys: StreamKeys | undefined): TransferLine {
  if (streamKeys === undefined || (line.type !== 'user' && line.type !== 'stream_key')) return line
  const user_id = line.type === 'user' ? line.id : line.user_id
  const stream_key = streamKeys.open(user_id, line as StoredLine<'user' | 'stream_key'>)
  if (stream_key !== undefined) return { ...line, stream_key }
  throw new OperatorError(
    `a stream key of the user "${user_id}" does not open with these master keys: set STRAND_MASTER_KEYS, or --data to the folder that has them`,
  )
}
