import { type Dialect, joined, sql, verbatim } from './tag.ts'

export const sqliteDialect: Dialect = {
  name: 'sqlite',
  mark: () => '?',
  key: 'text',
  lockRows: '',
  clock: `cast(unixepoch('subsec') * 1000 as integer)`,
  isOneOf: (column, values) => sql`${column} in (select value from json_each(${JSON.stringify(values)}))`,
  // It goes through them side by side.
  merged: (branches, tail) => sql`${joined(branches, ' union all ')}${tail}`,
  table: (rows, columns) =>
    sql`(select ${verbatim(columns.map(name => `cast(value ->> '${name}' as text) as ${name}`).join(', '))} from json_each(${JSON.stringify(rows)}))`,
}

/** Structured values travel as text and are cast there: the client must not encode them a second time. */
export const postgresDialect: Dialect = {
  name: 'postgres',
  mark: n => `$${n}`,
  key: 'text collate "C"',
  lockRows: ' for no key update',
  clock: 'cast(extract(epoch from clock_timestamp()) * 1000 as bigint)',
  isOneOf: (column, values) => sql`${column} = any(cast(cast(${arrayLiteral(values)} as text) as text[]))`,
  // It would read and sort all of each, unless each has a limit of its own.
  merged: (branches, tail) =>
    sql`${joined(
      branches.map(branch => sql`(${branch}${tail})`),
      ' union all ',
    )}${tail}`,
  table: (rows, columns) =>
    sql`(select ${verbatim(columns.map(name => `item ->> '${name}' as ${name}`).join(', '))} from json_array_elements(cast(cast(${JSON.stringify(rows)} as text) as json)) as item)`,
}

/** `{"a","b"}`: an array in the text form that PostgreSQL reads. */
function arrayLiteral(values: readonly string[]): string {
  return `{${values.map(value => `"${value.replace(/[\\"]/g, '\\$&')}"`).join(',')}}`
}
