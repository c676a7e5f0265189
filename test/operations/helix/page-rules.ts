/** What every list owes its callers (D-11, D-13, D-14), proved for one of them; and a walk through its pages. */
import { expect } from 'bun:test'
import type { Operation } from '../../../src/contract/operation.ts'
import { expectProblem, type Proofs, send } from '../../support/operation.ts'
import type { Answer, Ask, TestServer } from '../../support/server.ts'

// biome-ignore lint/suspicious/noExplicitAny: rows as they came over the wire
export type Row = any

type Filters = NonNullable<Ask['query']>

export interface PagedList {
  readonly operation: Operation
  /** A request without `first` whose list has more than eight rows and does not change. */
  readonly ask: (server: TestServer) => Ask | Promise<Ask>
  /** What names a row, if it is not `id`. */
  readonly idOf?: (row: Row) => string
  /** Other filters that list something too; absent where the list has none. */
  readonly otherFilters?: (server: TestServer) => Filters | Promise<Filters>
  /** Tokens of other callers who may make the same request. */
  readonly otherCallers: (
    server: TestServer,
  ) => readonly (string | undefined)[] | Promise<readonly (string | undefined)[]>
}

const CURSOR = /^[A-Za-z0-9_-]+$/
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
const NOT_INTEGERS = [
  '1e2',
  '%2B5',
  '+5',
  '05',
  '5.0',
  '%205',
  '5%20',
  '-1',
  '0x5',
  '1_0',
  'five',
  '%D9%A3',
  '1,5',
]

/** Follows `after` to the end; the page size may change, and the world may change between pages. */
export async function walk(
  server: TestServer,
  operation: Operation,
  ask: Ask,
  sizeOf: (page: number) => number,
  between?: (page: number) => Promise<void>,
): Promise<Row[]> {
  const rows: Row[] = []
  let after: string | undefined
  for (let page = 0; page < 2000; page++) {
    const first = sizeOf(page)
    const answer = await send(server, operation, { ...ask, query: { ...ask.query, first, after } })
    expect(answer.status).toBe(200)
    expect(answer.body.data.length).toBeLessThanOrEqual(first)
    rows.push(...answer.body.data)
    after = cursorOf(answer)
    if (after === undefined) return rows
    await between?.(page)
  }
  throw new Error('the walk does not end')
}

/** The cursor of a page, which is absent at the end: never empty, never null. */
export function cursorOf(answer: Answer): string | undefined {
  const { cursor, ...rest } = answer.body.pagination
  expect(rest).toEqual({})
  if ('cursor' in answer.body.pagination) expect(cursor).toMatch(CURSOR)
  return cursor
}

/** The answer, if its message is this. */
export function withMessage(answer: Answer, message: string): Answer {
  expect(answer.body.message).toBe(message)
  return answer
}

export const idsOf = (rows: readonly Row[]): string[] => rows.map(row => row.id)

export function provePages({ ok, fails }: Proofs, list: PagedList): void {
  const { operation, idOf = row => row.id } = list
  const page = async (server: TestServer, search: string, changes: Ask = {}) =>
    send(server, operation, { ...(await list.ask(server)), ...changes, search })
  /** Proves it of each, and hands the last one on. */
  const each = async (
    answers: Promise<Answer>[],
    name: Parameters<typeof expectProblem>[2],
    message: string,
  ) => {
    const all = await Promise.all(answers)
    for (const answer of all) expectProblem(operation, withMessage(answer, message), name)
    return all.at(-1) as Answer
  }

  ok('pages of 1, 7 and 100, and of changing size, give the same rows in the same order', async server => {
    const ask = await list.ask(server)
    const whole = (await walk(server, operation, ask, () => 100)).map(idOf)
    expect(whole.length).toBeGreaterThan(8)
    expect(new Set(whole).size).toBe(whole.length)
    for (const sizeOf of [() => 1, () => 7, (n: number) => 1 + ((n * 5) % 9)]) {
      expect((await walk(server, operation, ask, sizeOf)).map(idOf)).toEqual(whole)
    }
  })

  ok('an empty first or after counts as absent', async server => {
    const plain = await page(server, '')
    const empty = await page(server, 'first=&after=')
    expect(empty.body.data).toEqual(plain.body.data)
  })

  ok('a full page that ends with the list has no cursor', async server => {
    const ask = await list.ask(server)
    const { length } = await walk(server, operation, ask, () => 100)
    const pages = Math.ceil(length / 100)
    let asked = 0
    const rows = await walk(server, operation, ask, page => {
      asked += 1
      return page === 0 ? length - 100 * (pages - 1) : 100
    })
    expect([rows.length, asked]).toEqual([length, pages])
  })

  fails('malformed_parameter', 'when first is not an integer in plain digits', server =>
    each(
      NOT_INTEGERS.map(text => page(server, `first=${text}`)),
      'malformed_parameter',
      'The parameter "first" was malformed: the value must be an integer',
    ),
  )
  fails('malformed_parameter', 'when first is 0', async server =>
    withMessage(
      await page(server, 'first=0'),
      'The parameter "first" was malformed: the value must be greater than or equal to 1',
    ),
  )
  fails('malformed_parameter', 'when first is above 100', server =>
    each(
      ['101', '1000', '999999999'].map(text => page(server, `first=${text}`)),
      'malformed_parameter',
      'The parameter "first" was malformed: the value must be less than or equal to 100',
    ),
  )
  fails('repeated_parameter', 'when first is given twice, even with one value', server =>
    page(server, 'first=5&first=5'),
  )
  fails('repeated_parameter', 'when after is given twice', async server => {
    const cursor = cursorOf(await page(server, 'first=1'))
    return page(server, `after=${cursor}&after=${cursor}`)
  })

  fails('invalid_cursor', 'when any one character of a cursor is another', async server => {
    const cursor = cursorOf(await page(server, 'first=1')) ?? ''
    const altered = [...cursor].map((letter, place) => {
      const other = ALPHABET[(ALPHABET.indexOf(letter) + 1 + (place % 62)) % 64]
      return cursor.slice(0, place) + other + cursor.slice(place + 1)
    })
    expect(altered).not.toContain(cursor)
    // The lowest bits of the last character may mean nothing: every neighbour of it is tried.
    for (const letter of ALPHABET) if (!cursor.endsWith(letter)) altered.push(cursor.slice(0, -1) + letter)
    return each(
      altered.map(text => page(server, `after=${text}`)),
      'invalid_cursor',
      'invalid cursor',
    )
  })
  fails('invalid_cursor', 'when a cursor is cut, lengthened or padded', async server => {
    const cursor = cursorOf(await page(server, 'first=1')) ?? ''
    const texts = [
      cursor.slice(0, -1),
      cursor.slice(1),
      cursor.slice(0, 8),
      `${cursor}A`,
      `${cursor}=`,
      `${cursor}%20`,
      `%20${cursor}`,
      `${cursor}.`,
      cursor + cursor,
      'x',
      '0',
      'null',
      '%7B%7D',
      'A'.repeat(4000),
    ]
    return each(
      texts.map(text => page(server, `after=${text}`)),
      'invalid_cursor',
      'invalid cursor',
    )
  })
  fails('invalid_cursor', 'when the cursor was given to another caller', async server => {
    const cursor = cursorOf(await page(server, 'first=1'))
    const tokens = await list.otherCallers(server)
    expect(tokens.length).toBeGreaterThan(0)
    for (const token of tokens) expect((await page(server, 'first=1', { token })).status).toBe(200)
    return each(
      tokens.map(token => page(server, `after=${cursor}`, { token })),
      'invalid_cursor',
      'invalid cursor',
    )
  })
  const { otherFilters } = list
  if (otherFilters !== undefined) {
    fails('invalid_cursor', 'when the cursor belongs to other filters', async server => {
      const cursor = cursorOf(await page(server, 'first=1'))
      const query = await otherFilters(server)
      expect((await page(server, 'first=1', { query })).status).toBe(200)
      return withMessage(await page(server, `after=${cursor}`, { query }), 'invalid cursor')
    })
  }
}
