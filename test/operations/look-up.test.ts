import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { lookUp } from '../../src/operations/look-up.ts'

interface Row {
  readonly id: string
  readonly name: string
}

const value = fc.constantFrom('1', '2', '3', '4', '5', '', 'x', '__proto__', 'constructor')
const rows = fc
  .uniqueArray(fc.record({ id: value, name: value }), { selector: row => row.id })
  .map(found => found.toSorted((a, b) => (a.id < b.id ? -1 : 1)))

test('any mix of keys, repeated and odd values gives each named row once, in the order of the request', async () => {
  await fc.assert(
    fc.asyncProperty(
      rows,
      fc.option(fc.array(value)),
      fc.option(fc.array(value)),
      async (table, ids, names) => {
        const finder = (column: 'id' | 'name') => async (values: readonly string[]) =>
          table.filter(row => values.includes(row[column]))
        const looked = lookUp<Row>(
          { values: ids ?? undefined, find: finder('id'), valueIn: row => row.id },
          { values: names ?? undefined, find: finder('name'), valueIn: row => row.name },
        )
        const named = [
          ...(ids ?? []).flatMap(id => table.filter(row => row.id === id)),
          ...(names ?? []).flatMap(name => table.filter(row => row.name === name)),
        ]
        expect(await looked).toEqual([...new Set(named)])
      },
    ),
  )
})

test('without a value the store is not asked', async () => {
  const find = () => {
    throw new Error('asked')
  }
  expect(
    await lookUp<Row>({ values: undefined, find, valueIn: String }, { values: [], find, valueIn: String }),
  ).toEqual([])
})
