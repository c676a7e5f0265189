/** Searches among many users: those whose names are too many to be sorted are found along logins, with the same result. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Key } from '../../src/contract/page.ts'
import { endOfPrefix, foundKey, parseChannelSearch } from '../../src/domain/search/channel-search.ts'
import { normalizeName } from '../../src/domain/search/normalize-name.ts'
import { parseSiteSearch } from '../../src/domain/search/site-search.ts'
import { assertDefined } from '../../src/kit/assert-defined.ts'
import type { Store } from '../../src/store/store.ts'
import { runs } from '../support/properties.ts'
import { engines } from '../support/server.ts'
import { anyStreamKey, openTestStore, retryWhileUnavailable } from '../support/store/stores.ts'

const USERS = 3500

/** More than half of the names begin with the same word, and are not those of the first logins. */
const users = Array.from({ length: USERS }, (_, n) => ({
  id: String(1000 + n),
  login: `u${(n * 7919) % USERS}`,
  display_name:
    n % 5 < 3 ? `Many ${(n * 31) % 100} of ${n}` : n % 5 === 3 ? `Mixed ${n}` : `u${(n * 7919) % USERS}`,
}))

const searchOf = (query: string) => assertDefined(parseChannelSearch(query), 'a query')

function expectedLogins(query: string): string[] {
  const search = searchOf(query)
  const fits = (name: string) => search.spellings.some(spelling => name.startsWith(spelling))
  return users
    .filter(user => fits(user.login) || fits(normalizeName(user.display_name)))
    .map(user => user.login)
    .sort(
      (a, b) =>
        Number(search.spellings.includes(b)) - Number(search.spellings.includes(a)) || (a < b ? -1 : 1),
    )
}

for (const engine of engines) {
  describe(`channel search on ${engine}`, () => {
    let store: Store
    let close: () => Promise<void>
    beforeAll(async () => {
      ;({ store, close } = await openTestStore(engine))
      for (let at = 0; at < USERS; at += 500) {
        const steps = users
          .slice(at, at + 500)
          .map(user => ['putUser', { ...user, stream_key: anyStreamKey(user.id), now: 0 }] as const)
        await retryWhileUnavailable(() => store.commands.runSteps({ steps }))
      }
    }, 60_000)
    afterAll(() => close())

    const walk = async (query: string, first: number, pages = Number.POSITIVE_INFINITY) => {
      const search = searchOf(query)
      const logins: string[] = []
      for (let from: Key | undefined, page = 0; page < pages; page++) {
        const { rows, more } = await store.channelSearch.page(search, {
          first,
          direction: 'forward',
          ...(from && { from }),
        })
        if (more) expect(rows).toHaveLength(first)
        logins.push(...rows.map(row => row.login))
        const last = rows.at(-1)
        if (!more || last === undefined) break
        from = foundKey(search, last.login)
      }
      return logins
    }

    for (const query of ['m', 'many', 'many 1', 'many 12 of', 'mixed', 'u12', 'u 12', 'U3499', 'n'])
      test(`"${query}" finds what a plain search finds, whether few fit or thousands`, async () => {
        expect(await walk(query, 100)).toEqual(expectedLogins(query))
        expect(await walk(query, 7, 4)).toEqual(expectedLogins(query).slice(0, 28))
      })

    test('names that have a text inside, among thousands, and not without a bound', async () => {
      const search = assertDefined(parseSiteSearch('ny 12 of'), 'a search')
      const expected = users.filter(user => normalizeName(user.display_name).includes('ny 12 of'))
      const found = await store.channelSearch.inside(search, 1000)
      expect(found.map(({ login }) => login).sort()).toEqual(expected.map(({ login }) => login).sort())
      expect(await store.channelSearch.inside(search, 5)).toHaveLength(5)
      for (const odd of ['%', '_', '!', 'm%y', 'ma_y'])
        expect(await store.channelSearch.inside(assertDefined(parseSiteSearch(odd), 'a search'), 10)).toEqual(
          [],
        )
      const answers = []
      for (let asked = 0; asked < 40; asked++) answers.push(store.channelSearch.inside(search, 5))
      const sizes = (await Promise.all(answers)).map(each => each.length)
      expect([sizes[0], sizes.at(-1)]).toEqual([5, 0])
    })

    test('a search among thousands of names lets other work run', async () => {
      let turns = 0
      const others = setInterval(() => {
        turns += 1
      }, 0)
      await walk('many', 100)
      clearInterval(others)
      expect(turns).toBeGreaterThan(0)
    })
  })
}

describe('the end of a prefix', () => {
  const points = fc.constantFrom(
    'a',
    '~',
    '\ud7ff',
    '\ue000',
    '\uffff',
    '\u{10000}',
    '\u{10fffe}',
    '\u{10ffff}',
  )
  const text = fc.string({ unit: points, minLength: 1, maxLength: 3 })
  const bytes = (some: string) => Buffer.from(some, 'utf8')

  test('property: lies after every text with the prefix and before all others that follow, by code point', () => {
    fc.assert(
      fc.property(text, text, (prefix, other) => {
        const end = endOfPrefix(prefix)
        const isInRange =
          Buffer.compare(bytes(other), bytes(prefix)) >= 0 &&
          (end === undefined || Buffer.compare(bytes(other), bytes(end)) < 0)
        expect(isInRange).toBe(other.startsWith(prefix))
      }),
      { numRuns: runs(2000) },
    )
  })

  test('does not exist where no text follows', () => {
    expect(endOfPrefix('\u{10ffff}\u{10ffff}')).toBeUndefined()
    expect(endOfPrefix('a\u{10ffff}')).toBe('b')
    expect(endOfPrefix('\ud7ff')).toBe('\ue000')
  })
})
