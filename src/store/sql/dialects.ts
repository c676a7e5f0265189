import { uuidBytes, uuidText } from '../../kit/uuid.ts'
import {
  type Dialect,
  joined,
  Parameter,
  type Scalar,
  type Sql,
  type StoredUuid,
  sql,
  verbatim,
} from './tag.ts'

export const sqliteDialect: Dialect = {
  name: 'sqlite',
  mark: () => '?',
  key: 'text',
  serial: 'integer primary key autoincrement',
  lockRows: '',
  lockFreeRows: '',
  overridingIdentity: '',
  clock: `cast(unixepoch('subsec') * 1000 as integer)`,
  isOneOf: (column, values) => sql`${column} in (select value from json_each(${JSON.stringify(values)}))`,
  isOneOfNumbers: (column, values) =>
    sql`${column} in (select value from json_each(${JSON.stringify(values)}))`,
  uuid: 'blob',
  inKeyOrder: ' without rowid',
  asUuid: text => sql`unhex(replace(${text}, '-', ''))`,
  uuidValue: uuid => (typeof uuid === 'string' ? uuidBytes(uuid) : new Parameter(uuid.name, bytesOfUuid)),
  isOneOfUuids: (column, values) =>
    values.length > 0 && values.length <= MAX_BOUND_UUIDS
      ? sql`${column} in (${joined(padded(values.map(toUuidBytes)), ', ')})`
      : sql`${column} in (select unhex(replace(value, '-', '')) from json_each(${JSON.stringify(values.map(toUuidText))}))`,
  // SQLite reads the branches side by side.
  merged: (branches, tail) => sql`${joined(branches, ' union all ')}${tail}`,
  table: (rows, columns) =>
    onlyRow(rows, columns) ??
    sql`(select ${verbatim(columns.map(name => `cast(value ->> '${name}' as text) as ${name}`).join(', '))} from json_each(${JSON.stringify(rows)}))`,
}

/** Structured values are sent as text and cast by the server: the client must not encode them a second time. */
export const postgresDialect: Dialect = {
  name: 'postgres',
  mark: n => `$${n}`,
  key: 'text collate "C"',
  serial: 'bigint generated always as identity primary key',
  lockRows: ' for no key update',
  lockFreeRows: ' for no key update skip locked',
  overridingIdentity: ' overriding system value',
  clock: 'cast(extract(epoch from clock_timestamp()) * 1000 as bigint)',
  // A sub-select is evaluated once. PostgreSQL would read the text again for every row of a scan, and without statistics it
  // may choose one.
  isOneOf: (column, values) =>
    sql`${column} = any(cast((select cast(cast(${arrayLiteral(values)} as text) as text[])) as text[]))`,
  isOneOfNumbers: (column, values) =>
    sql`${column} = any(cast((select cast(cast(${`{${values.join()}}`} as text) as bigint[])) as bigint[]))`,
  uuid: 'uuid',
  inKeyOrder: '',
  asUuid: text => sql`cast(cast(${text} as text) as uuid)`,
  uuidValue: uuid => sql`cast(cast(${uuid} as text) as uuid)`,
  isOneOfUuids: (column, values) =>
    sql`${column} = any(cast((select cast(cast(${arrayLiteral(values.map(toUuidText))} as text) as uuid[])) as uuid[]))`,
  // PostgreSQL would read and sort all rows of each branch, unless each branch has a limit.
  merged: (branches, tail) =>
    sql`${joined(
      branches.map(branch => sql`(${branch}${tail})`),
      ' union all ',
    )}${tail}`,
  // Parses each row once, where `->>` would parse it for each column.
  table: (rows, columns) =>
    onlyRow(rows, columns) ??
    sql`(select * from json_to_recordset(cast(cast(${JSON.stringify(rows)} as text) as json)) as item (${verbatim(columns.map(name => `${name} text`).join(', '))}))`,
}

/** Up to this many UUIDs are bound one by one: SQLite then updates the rows in one pass, with a subquery in two. Callers may send 100. */
const MAX_BOUND_UUIDS = 128

const toUuidBytes = (uuid: StoredUuid): Uint8Array => (typeof uuid === 'string' ? uuidBytes(uuid) : uuid)
const bytesOfUuid = (uuid: Scalar): Uint8Array => uuidBytes(String(uuid))
const toUuidText = (uuid: StoredUuid): string => (typeof uuid === 'string' ? uuid : uuidText(uuid))

/** The last value again and again up to a power of two, so that there are few texts to compile. */
function padded<T>(values: readonly T[]): T[] {
  const result = [...values]
  const last = values.at(-1)
  while (last !== undefined && (result.length & (result.length - 1)) !== 0) result.push(last)
  return result
}

/** Most tables of values have one row, and binding its values is cheaper than JSON. Undefined if there are more. */
function onlyRow(
  rows: readonly Readonly<Record<string, Scalar>>[],
  columns: readonly string[],
): Sql | undefined {
  const [row] = rows
  if (row === undefined || rows.length > 1) return undefined
  const values = columns.map(name => {
    const value = row[name] ?? null
    return sql`cast(${value === null ? null : String(value)} as text) as ${verbatim(name)}`
  })
  return sql`(select ${joined(values, ', ')})`
}

/** `{"a","b"}`: an array literal of PostgreSQL. */
function arrayLiteral(values: readonly string[]): string {
  return `{${values.map(value => `"${value.replace(/[\\"]/g, '\\$&')}"`).join(',')}}`
}
