import { isoMillis } from '../../kit/clock.ts'
import { migrations } from './migrations/index.ts'
import type { Flavor } from './tag.ts'

/** The store was written by a newer program. Said to the operator in one sentence. */
export class NewerSchema extends Error {
  override readonly name = 'NewerSchema'

  constructor(found: number) {
    super(
      `the store has schema ${found} and this program knows ${migrations.length}: start a newer version of Strand, or restore an older store`,
    )
  }
}

/** The schema that this program knows. */
export const SCHEMA_VERSION = migrations.length

/** The little that migrating needs, inside a transaction that holds the migration lock. */
export interface MigrationConnection {
  execute(statements: string): Promise<void>
  version(): Promise<number>
}

const versionTable = ({ key }: Flavor): string =>
  `create table if not exists schema_versions (version integer primary key, applied_at ${key} not null)`

/** Brings the schema to the newest version. Running it again changes nothing. */
export async function migrate(connection: MigrationConnection, flavor: Flavor): Promise<number> {
  await connection.execute(versionTable(flavor))
  const found = await connection.version()
  if (found > migrations.length) throw new NewerSchema(found)
  for (const [index, migration] of migrations.entries()) {
    if (index < found) continue
    await connection.execute(migration(flavor))
    await connection.execute(
      `insert into schema_versions (version, applied_at) values (${index + 1}, '${isoMillis(Date.now())}')
       on conflict (version) do nothing`,
    )
  }
  return migrations.length - found
}
