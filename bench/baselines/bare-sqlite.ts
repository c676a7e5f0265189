/**
 * The least that a durable write can cost on this disk: one statement and one commit in a loop, without HTTP, without
 * checks, without group commit. It works on a copy of the bench world, so tables, indexes and rows are the same, and its
 * connection is opened like Strand's: write-ahead log, `synchronous=FULL`.
 * `bun bench/baselines/bare-sqlite.ts <plan.json>`; prints how often it committed in how many seconds.
 */
import { readFileSync } from 'node:fs'
import { openSqlite } from '../../src/store/engines/sqlite-connection.ts'

export interface LoopPlan {
  readonly file: string
  readonly seconds: number
  readonly work:
    | { readonly kind: 'marker loop'; readonly videoIds: readonly string[] }
    | { readonly kind: 'update loop'; readonly batches: readonly UpdateBatch[] }
}

export interface UpdateBatch {
  readonly entitlement_ids: readonly string[]
  readonly fulfillment_status: string
}

export interface LoopResult {
  readonly commits: number
  readonly seconds: number
}

function runLoop({ file, seconds, work }: LoopPlan): LoopResult {
  const connection = openSqlite(file, 'write')
  const turn =
    work.kind === 'marker loop' ? markerTurn(connection, work.videoIds) : updateTurn(connection, work.batches)
  const began = performance.now()
  const end = began + seconds * 1000
  let commits = 0
  while (performance.now() < end) turn(commits++)
  const took = (performance.now() - began) / 1000
  connection.close()
  return { commits, seconds: took }
}

function markerTurn(connection: ReturnType<typeof openSqlite>, videoIds: readonly string[]) {
  const insert = connection.query(
    'insert into video_markers (id, video_id, position_seconds, description, created_at) values (?, ?, ?, ?, ?)',
  )
  return (index: number) => {
    const id = crypto.randomUUID().replaceAll('-', '')
    insert.run(id, videoIds[index % videoIds.length] ?? '', index, 'the jump', new Date().toISOString())
  }
}

function updateTurn(connection: ReturnType<typeof openSqlite>, batches: readonly UpdateBatch[]) {
  const update = connection.query(
    `update organization_entitlements set fulfilled = ?, last_updated = ?
     where id in (select unhex(value) from json_each(?))`,
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

if (import.meta.main) {
  const [file] = process.argv.slice(2)
  if (file === undefined) {
    console.error('bench/baselines/bare-sqlite.ts needs the file with its plan')
    process.exit(2)
  }
  console.log(JSON.stringify(runLoop(JSON.parse(readFileSync(file, 'utf8')) as LoopPlan)))
}
