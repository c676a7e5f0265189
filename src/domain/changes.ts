/** What to change of a row; a field that is undefined keeps its value. */
export type Changes<Row> = {
  readonly [Name in keyof Row]?:
    | (Row[Name] extends readonly (infer Item)[] ? readonly Item[] : Row[Name])
    | undefined
}

/** The row after these changes. Fields that it does not have are left out. */
export function changed<Row extends object>(row: Row, changes: Changes<Row>): Row {
  const given = Object.entries(changes).filter(([name, value]) => name in row && value !== undefined)
  return { ...row, ...Object.fromEntries(given) }
}
