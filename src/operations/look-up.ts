/** One of the parameters that name rows. */
interface LookUpKey<Row> {
  /** The values as sent; undefined if the parameter is absent. */
  readonly values: readonly string[] | undefined
  /** The rows with one of these values. If several rows share a value, they are in their order in the answer. */
  readonly find: (values: readonly string[]) => Promise<readonly Row[]>
  /** The value that names a row. */
  readonly valueIn: (row: Row) => string
}

/**
 * The rows that a request names, in the order of the keys and of the values of each, every row once. A value that names
 * nothing, whatever its form, is absent (D-62).
 */
export async function lookUp<Row extends { readonly id: string }>(
  ...keys: readonly LookUpKey<Row>[]
): Promise<Row[]> {
  const [only, other] = keys.filter(({ values = [] }) => values.length > 0)
  if (only?.values?.length === 1 && other === undefined) return [...(await only.find(only.values))]
  const byId = new Map<string, Row>()
  for (const { values = [], find, valueIn } of keys) {
    if (values.length === 0) continue
    const byValue = Map.groupBy(await find(values), valueIn)
    // A row that is there already keeps its place.
    for (const value of values) for (const row of byValue.get(value) ?? []) byId.set(row.id, row)
  }
  return [...byId.values()]
}
