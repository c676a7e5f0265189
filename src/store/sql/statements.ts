/** Splits the text of a migration. A statement ends with a semicolon before a line that is not indented. */
export function splitStatements(text: string): string[] {
  return text
    .split(/;\s*?\n(?=\S|\s*$|\s*?\n)/)
    .map(statement => statement.trim())
    .filter(statement => statement !== '')
}

/** `alter table t add column if not exists c ...`, which SQLite does not support. */
export function addedColumn(
  statement: string,
): { readonly table: string; readonly column: string; readonly plain: string } | undefined {
  const [, table, column] = /^alter table (\w+) add column if not exists (\w+)/.exec(statement) ?? []
  if (table === undefined || column === undefined) return undefined
  return { table, column, plain: statement.replace(' if not exists', '') }
}
