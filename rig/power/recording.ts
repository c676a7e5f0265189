/** Parses the log of `recorder.c`: file system calls in the order in which they took effect. */

/** What was synced: a file, or the folder with its entries. */
export type Synced = number | 'folder'

export type DiskEvent = (
  | { readonly kind: 'write'; readonly file: number; readonly offset: number; readonly bytes: Uint8Array }
  | { readonly kind: 'truncate'; readonly file: number; readonly size: number }
  | { readonly kind: 'create'; readonly file: number; readonly name: string }
  | { readonly kind: 'unlink'; readonly name: string }
  | { readonly kind: 'rename'; readonly from: string; readonly to: string }
  /** A completed sync. It covers every event before the log position `began`. */
  | { readonly kind: 'sync'; readonly of: Synced; readonly began: number }
) & {
  /** The size of the log after this event. */
  readonly at: number
}

const HEAD_BYTES = 24
const FOLDER_ITSELF = 0
const Kind = { write: 1, truncate: 2, create: 3, unlink: 4, rename: 5, syncBegin: 6, syncEnd: 7 }

/**
 * The recorder identifies files by inode. Inodes are reused, so each created file gets a number here. A truncated last
 * record, from a process that was killed while writing it, is dropped.
 */
export function parseRecording(log: Uint8Array): DiskEvent[] {
  const view = new DataView(log.buffer, log.byteOffset, log.byteLength)
  const text = new TextDecoder()
  const numbers = new Map<number, number>()
  const events: DiskEvent[] = []
  let created = 0
  const fileOf = (inode: number): number => {
    const file = numbers.get(inode)
    if (file === undefined) throw new Error('the recording has a file that it did not see created')
    return file
  }
  for (let start = 0; start + HEAD_BYTES <= log.length; ) {
    const kind = view.getUint32(start, true)
    const payload = view.getUint32(start + 4, true)
    const inode = Number(view.getBigUint64(start + 8, true))
    const offset = Number(view.getBigUint64(start + 16, true))
    const at = start + HEAD_BYTES + payload
    if (at > log.length) break
    const bytes = log.subarray(start + HEAD_BYTES, at)
    if (kind === Kind.write) events.push({ kind: 'write', file: fileOf(inode), offset, bytes, at })
    else if (kind === Kind.truncate) events.push({ kind: 'truncate', file: fileOf(inode), size: offset, at })
    else if (kind === Kind.create) {
      created += 1
      numbers.set(inode, created)
      events.push({ kind: 'create', file: created, name: text.decode(bytes), at })
    } else if (kind === Kind.unlink) events.push({ kind: 'unlink', name: text.decode(bytes), at })
    else if (kind === Kind.rename) {
      const [from = '', to = ''] = text.decode(bytes).split('/')
      events.push({ kind: 'rename', from, to, at })
    } else if (kind === Kind.syncEnd) {
      const of = inode === FOLDER_ITSELF ? 'folder' : fileOf(inode)
      events.push({ kind: 'sync', of, began: offset, at })
    } else if (kind !== Kind.syncBegin) throw new Error(`the recording has a record of kind ${kind}`)
    start = at
  }
  return events
}
