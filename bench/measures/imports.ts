/** A large import into an embedded store: how fast, and how much memory at most. */
import { join } from 'node:path'
import { openSqlite } from '../../src/store/engines/sqlite-connection.ts'
import type { Bench, Measure } from '../bench.ts'
import { whole } from '../report.ts'
import { writeLines } from '../world/history.ts'
import { type BenchWorld, SMALLEST } from '../world/world.ts'

/** Beyond the mapped pages of the store, which the system takes back when it needs them. */
const MAX_MEGABYTES = 400

export const imports: Measure = {
  name: 'import',
  seconds: ({ size }) => 20 + size.entitlements / 15_000,
  run: async bench => {
    const { entitlements } = bench.plan.size
    const world = await bench.makeWorld('import', SMALLEST)
    const { seconds, megabytes } = await importEntitlements(bench, world, entitlements)
    if (megabytes > MAX_MEGABYTES) throw new Error(`the import took ${whole(megabytes)} MB`)
    const details = `at most ${whole(megabytes)} MB of private memory`
    const result = { work: 'Import of entitlements, embedded store', unit: 'lines/s', details }
    const rows = { work: 'The rows and indexes alone, one thread', unit: 'rows/s' }
    return [
      { ...result, value: entitlements / seconds, atLeast: 60_000 },
      { ...rows, value: entitlements / secondsOfRows(world.storeFile) },
    ]
  },
}

/** Users first; what is measured is the import of what they hold. */
export async function importEntitlements(bench: Bench, world: BenchWorld, count: number) {
  const folder = bench.folder('lines')
  const [users, held] = [join(folder, 'users.ndjson'), join(folder, 'held.ndjson')]
  await writeLines(world, count, users, held)
  await bench.processes.runStrand(world, ['import', users])
  return bench.processes.runStrand(world, ['import', held])
}

const COLUMNS = 'organization, timestamp, id, last_updated, benefit, fulfilled, user_id, game_id'

/** The least that their rows take: the table made again with prepared statements, then its indexes, in one transaction. */
function secondsOfRows(storeFile: string): number {
  using db = openSqlite(storeFile, 'write')
  const rows = db.query(`select ${COLUMNS} from organization_entitlements order by timestamp`).values()
  const definitions = db
    .query(
      "select sql from sqlite_master where tbl_name = 'organization_entitlements' and sql is not null and type in ('table', 'index') order by type desc",
    )
    .values() as [string][]
  db.run('begin; drop table organization_entitlements')
  const [table, ...indexes] = definitions.flat()
  const began = performance.now()
  db.run(table ?? '')
  const insert = db.query(
    `insert into organization_entitlements (${COLUMNS}) values (?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  for (const row of rows) insert.run(...(row as string[]))
  for (const index of indexes) db.run(index)
  db.run('commit')
  return (performance.now() - began) / 1000
}
