/**
 * The least that a durable write can cost on this disk: one statement and one commit in a loop, without HTTP, without
 * checks, without group commit. It works on a copy of the world, so tables, indexes and rows are the same, and its
 * connection is opened like Strand's: write-ahead log, `synchronous=FULL`. Prints how often it committed per second.
 */
import { openSqlite } from '../../src/store/sqlite/sqlite-connection.ts'
import { readPlan } from './plan.ts'

export interface LoopPlan {
  readonly file: string
  readonly seconds: number
  readonly work:
    | { readonly kind: 'marker loop'; readonly videoIds: readonly string[] }
    | { readonly kind: 'update loop'; readonly batches: readonly UpdateBatch[] }
}

type UpdateBatch = Readonly<{ entitlement_ids: readonly string[]; fulfillment_status: string }>

const { file, seconds, work } = readPlan<LoopPlan>()
const connection = openSqlite(file, 'write')
const turn = work.kind === 'marker loop' ? markerTurn(work.videoIds) : updateTurn(work.batches)
const began = performance.now()
const end = began + seconds * 1000
let commits = 0
while (performance.now() < end) turn(commits++)
console.log(JSON.stringify({ perSecond: (commits * 1000) / (performance.now() - began) }))
connection.close()

function markerTurn(videoIds: readonly string[]) {
  const insert = connection.query(
    'insert into video_markers (id, video_id, position_seconds, description, created_at) values (?, ?, ?, ?, ?)',
  )
  return (index: number) => {
    const id = crypto.randomUUID().replaceAll('-', '')
    insert.run(id, videoIds[index % videoIds.length] ?? '', index, 'the jump', new Date().toISOString())
  }
}

function updateTurn(batches: readonly UpdateBatch[]) {
  const update = connection.query(
    'update organization_entitlements set fulfilled = ?, last_updated = ? where id in (select unhex(value) from json_each(?))',
  )
  const prepared = batches.map(
    batch =>
      [
        Number(batch.fulfillment_status === 'FULFILLED'),
        JSON.stringify(batch.entitlement_ids.map(id => id.replaceAll('-', ''))),
      ] as const,
  )
  return (index: number) => {
    const [fulfilled = 0, ids = ''] = prepared[index % prepared.length] ?? []
    const { changes } = update.run(fulfilled, Date.now(), ids)
    if (changes === 0) throw new Error('the update changed nothing')
  }
}
