import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { uuidBytes } from '../../src/kit/uuid.ts'
import { postgresDialect, sqliteDialect } from '../../src/store/sql/dialects.ts'
import {
  all,
  isOneOf,
  isOneOfUuids,
  joined,
  limitedTo,
  render,
  type Sql,
  sql,
  statement,
  uuidValue,
  valuesTable,
  verbatim,
} from '../../src/store/sql/tag.ts'

type Piece = { text: string; values: (string | number | null)[]; query: Sql }

const scalar = fc.oneof(fc.string({ maxLength: 3 }), fc.integer(), fc.constant(null))

/** Queries of many shapes from a few templates, each with the text and the values that it must come to (marks as `?`). */
const { piece } = fc.letrec<{ piece: Piece }>(tie => ({
  piece: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom('a', 'b').map(text => ({ text, values: [], query: verbatim(text) })),
    scalar.map(value => ({ text: 'x = ?', values: [value], query: sql`x = ${value}` })),
    fc.tuple(scalar, tie('piece')).map(([value, { text, values, query }]) => ({
      text: `f(?, ${text})`,
      values: [value, ...values],
      query: sql`f(${value}, ${query})`,
    })),
    fc.tuple(tie('piece'), scalar, fc.boolean()).map(([{ text, values, query }, value, isFirst]) => ({
      text: isFirst ? `g(${text}, ?)` : `g(?, ${text})`,
      values: isFirst ? [...values, value] : [value, ...values],
      query: pair(isFirst ? query : value, isFirst ? value : query),
    })),
    fc.array(tie('piece'), { maxLength: 3 }).map(parts => ({
      text: parts.length === 0 ? '1 = 1' : parts.map(part => part.text).join(' and '),
      values: parts.flatMap(part => part.values),
      query: all(parts.map(part => part.query)),
    })),
    fc.array(scalar, { minLength: 1, maxLength: 3 }).map(values => ({
      text: values.map(() => '?').join(', '),
      values,
      query: joined(values, ', '),
    })),
  ),
}))

/** One template whose gaps hold now a value, now a piece. */
function pair(first: Sql | string | number | null, second: Sql | string | number | null): Sql {
  return sql`g(${first}, ${second})`
}

test('a query has the text and the values of its parts, whatever was rendered before it', () => {
  fc.assert(
    fc.property(piece, ({ text, values, query }) => {
      expect(render(query, sqliteDialect)).toEqual({ text, values })
      let marks = 0
      const numbered = text.replaceAll('?', () => `$${++marks}`)
      expect(render(query, postgresDialect)).toEqual({ text: numbered, values })
    }),
    { numRuns: 1000 },
  )
})

test('queries of one shape share one text', () => {
  const find = (id: string, flag: boolean) => sql`select 1 from t where id = ${id} and flag = ${flag}`
  expect(render(find('a', true), sqliteDialect).values).toEqual(['a', 1])
  expect(render(find('b', false), sqliteDialect)).toEqual({
    text: 'select 1 from t where id = ? and flag = ?',
    values: ['b', 0],
  })
})

test('lists and tables of values are one value each; those of one need no list', () => {
  const rows = [
    { id: 'a', n: 1 },
    { id: 'b', n: 2 },
  ]
  expect(render(sql`${isOneOf(sql`id`, ['a', 'b'])}`, sqliteDialect).values).toEqual(['["a","b"]'])
  expect(render(sql`${isOneOf(sql`id`, [])}`, sqliteDialect).values).toEqual(['[]'])
  for (const dialect of [sqliteDialect, postgresDialect]) {
    expect(render(sql`${isOneOf(sql`id`, ['a'])}`, dialect).text).toBe(`id = ${dialect.mark(1)}`)
    expect(render(sql`${valuesTable(rows, ['id', 'n'])}`, dialect).values).toEqual([JSON.stringify(rows)])
    expect(render(sql`${valuesTable(rows.slice(1), ['id', 'n'])}`, dialect).values).toEqual(['b', '2'])
  }
})

test('a value that no column has fails when it is rendered, for both engines', () => {
  for (const dialect of [sqliteDialect, postgresDialect]) {
    for (const value of [{}, [], undefined, 1n, new Date(0), () => '']) {
      expect(() => render(sql`x = ${value as never}`, dialect)).toThrow(TypeError)
    }
    const bytes = new Uint8Array([1, 2])
    expect(render(sql`x = ${bytes}`, dialect).values).toEqual([bytes])
  }
})

test('a list of UUIDs of any length finds exactly those, with few texts', () => {
  using db = new Database(':memory:')
  db.run('create table t (id blob primary key)')
  const uuids = Array.from({ length: 300 }, () => crypto.randomUUID())
  for (const uuid of uuids) db.run('insert into t values (?)', [uuidBytes(uuid)])
  const texts = new Set<string>()
  for (let count = 0; count < 200; count++) {
    const { text, values } = render(
      sql`select count(*) as found from t where ${isOneOfUuids(sql`id`, uuids.slice(0, count))}`,
      sqliteDialect,
    )
    texts.add(text)
    expect(db.query(text).get(...values)).toEqual({ found: count })
  }
  expect(texts.size).toBeLessThan(12)
})

test('a statement has the text of the query that it was written as, and its values in the order of the marks', () => {
  const bySize = statement(
    ['id', 'size'],
    ({ id, size }) => sql`x > ${size} and id = ${uuidValue(id)} and y < ${size}${limitedTo(size)}`,
  )
  const id = '0123abcd-0123-4567-89ab-0123456789ab'
  for (const dialect of [sqliteDialect, postgresDialect])
    for (const size of [1, 2])
      expect(render(bySize({ id, size }), dialect)).toEqual(
        render(sql`x > ${size} and id = ${uuidValue(id)} and y < ${size}${limitedTo(size)}`, dialect),
      )
})

test('a statement with a value in its text is refused, as it would be that of every call', () => {
  const frozen = statement(['id'], ({ id }) => sql`id = ${id} and x = ${1}`)
  expect(() => render(frozen({ id: 'a' }), sqliteDialect)).toThrow('not a parameter')
})

test('a statement without one of its values is refused', () => {
  const byId = statement(['id'], ({ id }) => sql`id = ${id}`)
  expect(() => render(byId({} as { id: string }), sqliteDialect)).toThrow('no value for id')
})

test('a parameter outside of a statement is refused', () => {
  const stray = statement(['id'], ({ id }) => {
    expect(() => render(sql`id = ${id}`, sqliteDialect)).toThrow(TypeError)
    return sql`id = ${id}`
  })
  expect(render(stray({ id: 'a' }), sqliteDialect)).toEqual({ text: 'id = ?', values: ['a'] })
})
