/** Opens a disk image as Strand does after a power loss, verifies it and reads its content. */
import { Database } from 'bun:sqlite'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { MasterKey } from '../../src/kit/crypto/key-ring.ts'
import { isoMillis } from '../../src/kit/time/clock.ts'
import { uuidText } from '../../src/kit/uuid.ts'
import { STORE_FILE } from '../../src/maintenance/manifest.ts'
import { verifyFolder } from '../../src/maintenance/verify.ts'
import { openSqlite } from '../../src/store/sqlite/sqlite-connection.ts'
import { ABSENT, type Found, HALF, type Judged, judgeImage, type RegisterWrite } from './journal.ts'
import { LIVE, SPLIT_GROUP, type Subjects, THERE } from './mixed-writes.ts'

export interface Examination extends Judged {
  /** Problems of the store itself: pages, indexes, references, stream keys, the audit log. */
  readonly damage: readonly string[]
}

export interface Expected {
  readonly registers: ReadonlyMap<string, readonly RegisterWrite[]>
  readonly subjects: Subjects
  readonly masterKeys: readonly MasterKey[]
}

/** Writes an image to `folder`, replacing what is there. */
export function writeImage(folder: string, image: ReadonlyMap<string, Uint8Array>): void {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { mode: 0o700 })
  for (const [name, bytes] of image) writeFileSync(join(folder, name), bytes, { mode: 0o600 })
}

/** Verifies the store in a folder and compares it with what was acknowledged at a position. */
export async function examine(folder: string, expected: Expected, position: number): Promise<Examination> {
  const damage = await damageIn(folder, expected.masterKeys)
  if (damage.length > 0) return { damage, lost: [], halfApplied: [] }
  const find = findIn(join(folder, STORE_FILE), expected.subjects)
  return { damage, ...judgeImage(expected.registers, find, position) }
}

async function damageIn(folder: string, masterKeys: readonly MasterKey[]): Promise<readonly string[]> {
  try {
    rollBack(join(folder, STORE_FILE))
    if (!hasTables(join(folder, STORE_FILE))) return []
    return (await verifyFolder(folder, masterKeys)).problems
  } catch (error) {
    return [(error as Error).message]
  }
}

/** The first start creates the file under a rollback journal. A server rolls it back on open; a read-only check cannot. */
function rollBack(file: string): void {
  if (existsSync(file) && existsSync(`${file}-journal`)) openSqlite(file, 'write').close()
}

/** Before the first commit there is no store, or an empty one; the server creates its tables on the next start. */
function hasTables(file: string): boolean {
  if (!existsSync(file)) return false
  try {
    using store = new Database(file, { readonly: true })
    return store.query('select 1 from sqlite_schema limit 1').all().length > 0
  } catch {
    // Unreadable: verification reports why.
    return true
  }
}

function findIn(file: string, { groups, channels, markers, tokens }: Subjects): (key: string) => Found {
  if (!hasTables(file)) return () => ({ value: ABSENT })
  using store = new Database(file, { readonly: true })
  const column = (query: string) => new Set(store.query(query).values().flat() as string[])
  const live = column('select user_id from streams')
  const marked = column('select description from video_markers')
  const hashes = column('select hash from tokens')
  const entitlements = new Map(
    (
      store.query('select id, fulfilled, last_updated from organization_entitlements').values() as [
        Uint8Array,
        number,
        number,
      ][]
    ).map(([id, fulfilled, updated]) => [
      uuidText(id),
      { status: fulfilled === 1 ? 'FULFILLED' : 'CLAIMED', updated: isoMillis(updated) },
    ]),
  )
  const within = (set: ReadonlySet<string>, member: string, value: string): Found => ({
    value: set.has(member) ? value : ABSENT,
  })
  return key => {
    const ids = groups.get(key)
    if (ids !== undefined) {
      const rows = ids.map(id => entitlements.get(id))
      // Two requests have two update times, so only the statuses are compared.
      return key === SPLIT_GROUP ? batchOf(rows.map(row => row && { status: row.status })) : batchOf(rows)
    }
    const channel = channels.get(key)
    if (channel !== undefined) return within(live, channel, LIVE)
    const marker = markers.get(key)
    return marker === undefined ? within(hashes, tokens.get(key) ?? '', THERE) : within(marked, marker, THERE)
  }
}

interface EntitlementRow {
  readonly status: string
  readonly updated?: string
}

/** The rows of a batch as one value, if they are one. */
export function batchOf(rows: readonly (EntitlementRow | undefined)[]): Found {
  const [first] = rows
  if (rows.some(each => each?.status !== first?.status || each?.updated !== first?.updated))
    return { value: HALF }
  if (first === undefined) return { value: ABSENT }
  return { value: first.status, ...(first.updated !== undefined && { at: Date.parse(first.updated) }) }
}
