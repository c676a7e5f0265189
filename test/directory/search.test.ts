/** Searches among live channels: the lists that follow every start and end find what a look at every stream finds. */
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Key } from '../../src/contract/page.ts'
import { Directory } from '../../src/directory/directory.ts'
import { SortedTexts } from '../../src/directory/sorted-texts.ts'
import { fits, foundKey, isExact, parseChannelSearch } from '../../src/domain/search/channel-search.ts'
import { normalizeName } from '../../src/domain/search/normalize-name.ts'
import { FOUND_IN, parseSiteSearch, placeInChannel } from '../../src/domain/search/site-search.ts'
import { assertDefined } from '../../src/kit/assert-defined.ts'
import type { LiveStream } from '../../src/store/feed.ts'
import { runs } from '../support/properties.ts'
import { live, Node, ordinary, World } from './world.ts'

const searchOf = (query: string) => assertDefined(parseChannelSearch(query), 'a query')
const siteSearch = (query: string) => assertDefined(parseSiteSearch(query), 'a query')
const byText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)

/** All pages of a search, as a client asks for them. */
function walk(directory: Directory, query: string, first: number): string[] {
  const search = searchOf(query)
  const logins: string[] = []
  for (let from: Key | undefined; ; ) {
    const { rows, more } = directory.search(search, { first, direction: 'forward', ...(from && { from }) })
    logins.push(...rows.map(row => row.user_login))
    const last = rows.at(-1)
    if (!more || last === undefined) return logins
    from = foundKey(search, last.user_login)
  }
}

function expectedLogins(streams: readonly LiveStream[], query: string): string[] {
  const search = searchOf(query)
  const rank = (login: string) => (isExact(search, login) ? 0 : 1)
  return streams
    .filter(each =>
      [each.user_login, each.user_name, each.game_name].some(name => fits(search, normalizeName(name))),
    )
    .map(each => each.user_login)
    .sort((a, b) => rank(a) - rank(b) || byText(a, b))
}

function expectedBest(streams: readonly LiveStream[], query: string): [number, string][] {
  return streams
    .flatMap(stream => {
      const texts = [stream.user_login, stream.user_name, stream.title, ...stream.tags]
      const [login = '', name = ''] = texts.map(normalizeName)
      const place = placeInChannel(siteSearch(query), {
        login,
        name,
        searched: normalizeName(texts.join('\n')),
      })
      return place === undefined ? [] : [{ place, stream }]
    })
    .sort(
      (a, b) =>
        a.place - b.place ||
        b.stream.viewer_count - a.stream.viewer_count ||
        byText(a.stream.user_login, b.stream.user_login),
    )
    .map(({ place, stream }) => [place, stream.user_login])
}

const letters = fc.constantFrom('a', 'b', 'É', '猫', ' ', '_', '1')
const word = fc.string({ unit: letters, minLength: 1, maxLength: 4 })
const change = fc.oneof(
  fc.record({
    kind: fc.constant('put' as const),
    n: fc.nat(11),
    login: fc.string({ unit: fc.constantFrom('a', 'b', '_', '1'), minLength: 1, maxLength: 3 }),
    name: word,
    title: word,
    tags: fc.array(word, { maxLength: 2 }),
    game: fc.constantFrom('', 'a game', 'b'),
    viewers: fc.nat(3),
  }),
  fc.record({ kind: fc.constant('end' as const), n: fc.nat(11) }),
  fc.record({ kind: fc.constant('restart' as const), entries: fc.nat(5) }),
  fc.record({ kind: fc.constant('search' as const), query: word, first: fc.integer({ min: 1, max: 5 }) }),
)

describe('searches in the directory', () => {
  test('property: find what a look at every stream finds, in the same order, after any changes', () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 40 }), changes => {
        const world = new World()
        const node = new Node(world, ordinary)
        for (const each of [...changes, { kind: 'search' as const, query: 'a', first: 2 }]) {
          if (each.kind === 'put') {
            const { n, login, name, title, tags, game, viewers } = each
            // No two users have the same login.
            const names = { user_login: `${login}_${n}`, user_name: name }
            world.put(n, { ...names, title, tags, game_id: game, game_name: game, viewer_count: viewers })
          } else if (each.kind === 'end') world.end(each.n)
          else if (each.kind === 'restart') node.restart(each.entries)
          node.follow()
          if (each.kind !== 'search' || each.query.trim() === '') continue
          const streams = [...world.streams.values()]
          expect(walk(node.directory, each.query, each.first)).toEqual(expectedLogins(streams, each.query))
          const found = node.directory.find(siteSearch(each.query), 20)
          const best = found.map(({ place, stream }) => [place, stream.user_login])
          expect(best).toEqual(expectedBest(streams, each.query))
          for (const { stream } of found)
            expect(stream.viewer_count).toBe(world.streams.get(stream.id)?.viewer_count as number)
        }
      }),
      { numRuns: runs(2000) },
    )
  })

  test('find others where a game has no live stream since the start', () => {
    const world = new World()
    const node = new Node(world, ordinary)
    world.put(5, { game_id: '', game_name: '' })
    world.end(5)
    node.restart(1)
    world.put(0, { user_login: 'otter', game_id: '7', game_name: 'A game' })
    node.follow()
    expect(walk(node.directory, 'ott', 2)).toEqual(['otter'])
  })

  test('property: the sorted list is that of a plain sort, however many changes wait', () => {
    const step = fc.record({ index: fc.nat(3000), text: fc.option(word), read: fc.boolean() })
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 3000 }),
        fc.array(step, { maxLength: 60 }),
        word,
        (loaded, steps, prefix) => {
          const sorted = new SortedTexts()
          const texts = new Map<number, string>()
          const set = (index: number, text: string | null) => {
            sorted.set(index, text ?? undefined)
            if (text === null) texts.delete(index)
            else texts.set(index, text)
          }
          for (let index = 0; index < loaded; index++) set(index, `ab${(index * 7919) % 100}`)
          for (const { index, text, read } of steps) {
            set(index, text)
            if (read) expect(sorted.order).toHaveLength(texts.size)
          }
          const expected = [...texts.values()].sort(byText)
          const inOrder = [...sorted.order].map(index => texts.get(index) as string)
          expect(inOrder).toEqual(expected)
          expect(new Set(sorted.order).size).toBe(texts.size)
          const [start, end] = sorted.prefixRange(prefix)
          expect(inOrder.slice(start, end)).toEqual(expected.filter(text => text.startsWith(prefix)))
          const equal = sorted.equalTo(prefix, 10).map(index => texts.get(index) as string)
          expect(equal).toEqual(expected.filter(text => text === prefix).slice(0, 10))
        },
      ),
      { numRuns: runs(200) },
    )
  })

  test('names before words, exact before beginnings, word starts before the rest, and then by viewers', () => {
    const directory = new Directory({ publicUrl: '' })
    const names = ['koala', 'koala_bear', 'dusty_koala', 'unkoalable', 'about', 'tagged', 'midword', 'small']
    const streams = names.map((user_login, n) =>
      live(n, {
        user_login,
        user_name: user_login,
        viewer_count: n,
        title: { about: 'Koala time', midword: 'skoalas', small: 'nothing' }[user_login] ?? '',
        tags: user_login === 'tagged' ? ['KOALA'] : [],
      }),
    )
    directory.reload([...streams, live(20, { user_login: 'my_koala', viewer_count: 99 })], {
      seq: 1,
      nonce: '',
    })
    const found = directory.find(siteSearch('Koala'), 20)
    expect(found.map(({ place, stream }) => [stream.user_login, place])).toEqual([
      ['koala', FOUND_IN.name],
      ['koala_bear', FOUND_IN.nameStart],
      ['my_koala', FOUND_IN.nameWord],
      ['dusty_koala', FOUND_IN.nameWord],
      ['unkoalable', FOUND_IN.insideName],
      ['tagged', FOUND_IN.words],
      ['about', FOUND_IN.words],
      ['midword', FOUND_IN.insideWords],
    ])
    expect(directory.find(siteSearch('time koala'), 20).map(each => each.stream.user_login)).toEqual([
      'about',
    ])
    expect(directory.find(siteSearch('dusty koala'), 1)[0]?.place).toBe(FOUND_IN.name)
  })
})
