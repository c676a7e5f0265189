import { expect } from 'bun:test'
import fc from 'fast-check'
import { searchCategories } from '../../../src/contract/helix/search-categories.ts'
import type { Game } from '../../../src/contract/resources/game.ts'
import { randomAlphanumerics } from '../../../src/kit/id.ts'
import { describeOperation, type Proofs, send } from '../../support/operation.ts'
import { runs } from '../../support/properties.ts'
import type { Ask, TestServer } from '../../support/server.ts'
import { idsOf, provePages, type Row, walk, withMessage } from './page-rules.ts'
import { newGame } from './profiles.ts'

const ask = (server: TestServer, changes: Ask = {}) =>
  send(server, searchCategories, { token: server.world.client.app_token, ...changes })
const valid = ({ world }: TestServer): Ask => ({ token: world.client.app_token, query: { query: 'the' } })
const search = async (server: TestServer, query: string): Promise<Row[]> =>
  walk(server, searchCategories, { token: server.world.client.app_token, query: { query } }, () => 100)
const namesOf = (rows: readonly Row[]): string[] => rows.map(row => row.name)

/** A word that no other game has, so that proofs do not find each other's games. */
const newWord = () => randomAlphanumerics(14)

async function newGames(server: TestServer, names: readonly string[]): Promise<Game[]> {
  const games: Game[] = []
  for (const name of names) games.push(await newGame(server, { name }))
  return games
}

/** Twenty games with the same word, made once for each server. */
const shelves = new WeakMap<TestServer, Promise<string>>()
function shelfOf(server: TestServer): Promise<string> {
  const known = shelves.get(server)
  if (known !== undefined) return known
  const made = (async () => {
    const word = newWord()
    const names = Array.from({ length: 20 }, (_, n) => [`${word} ${n}`, `The ${word}`, word][n % 3] ?? word)
    await newGames(server, names)
    return word
  })()
  shelves.set(server, made)
  return made
}

/** The decision D-76, written another way. */
function expectedOf(games: readonly Game[], query: string): string[] {
  const normalized = (text: string) => text.normalize('NFC').toLowerCase()
  const text = normalized(query).trim()
  const bytes = (name: string) => Buffer.from(name)
  const tier = ({ name }: Game) =>
    normalized(name) === text ? 0 : normalized(name).indexOf(text) === 0 ? 1 : 2
  return games
    .filter(({ name }) => text.split(/\s+/).every(word => normalized(name).includes(word)))
    .toSorted(
      (a, b) =>
        tier(a) - tier(b) ||
        Buffer.compare(bytes(a.name), bytes(b.name)) ||
        Number(BigInt(a.id) - BigInt(b.id)),
    )
    .map(game => game.id)
}

describeOperation(searchCategories, { valid }, (proofs: Proofs) => {
  const { ok, fails } = proofs
  ok('gives rows as GetGames does, with a template for the box art (D-76)', async server => {
    const name = newWord()
    const game = await newGame(server, { name, igdb_id: '90210' })
    const answer = await ask(server, { query: { query: name } })
    const got = await server.call({
      path: '/helix/games',
      token: server.world.viewer.token,
      query: { id: game.id },
    })
    expect(answer.body).toEqual({ data: got.body.data, pagination: {} })
    expect(Object.keys(answer.body.data[0])).toEqual(['id', 'name', 'box_art_url', 'igdb_id'])
    expect(answer.body.data[0].box_art_url).toEndWith(`/images/games/${game.id}-{width}x{height}.png`)
  })

  ok('no match is an empty list, never null', async server => {
    expect((await ask(server, { query: { query: newWord() } })).body).toEqual({ data: [], pagination: {} })
  })

  ok(
    'the exact name first, then names that begin with the query, then others; each by name and id',
    async server => {
      const word = newWord()
      const [prefixed, other, exact, shouted, early, twin] = await newGames(server, [
        `${word} II`,
        `Zero ${word}`,
        word,
        word.toUpperCase(),
        `A tale of ${word}`,
        `${word} II`,
      ])
      const twins = [prefixed, twin].toSorted((a, b) => Number(a?.id) - Number(b?.id))
      const sorted = [exact, shouted].toSorted((a, b) => ((a?.name ?? '') < (b?.name ?? '') ? -1 : 1))
      expect(idsOf(await search(server, word.toLowerCase()))).toEqual(
        idsOf([...sorted, ...twins, early, other]),
      )
    },
  )

  ok('every word must occur, in any order and case, as a part of the name too', async server => {
    const word = newWord()
    await newGames(server, [`${word}: Rise of the Reef`, `${word}: Fall of the Reef`])
    const found = async (query: string) => namesOf(await search(server, query))
    expect(await found(`reef RISE ${word.toLowerCase()}`)).toEqual([`${word}: Rise of the Reef`])
    expect(await found(`  the\t${word.slice(3)} \u3000 fal  `)).toEqual([`${word}: Fall of the Reef`])
    expect(await found(`${word} shore`)).toEqual([])
    expect(await found(`${word} of of the`)).toHaveLength(2)
  })

  ok('case and composition do not matter, beyond ASCII too', async server => {
    const word = newWord()
    const [game] = await newGames(server, [`Ölwürm ÇA ${word}`])
    for (const text of ['ÖLWÜRM', 'o\u0308lwu\u0308rm', 'ölwürm ça'])
      expect(idsOf(await search(server, `${text} ${word}`))).toEqual([game?.id ?? ''])
  })

  ok('what SQL takes for a pattern is plain text', async server => {
    const word = newWord()
    await newGames(server, [`${word} 100% _real_ 'n "quoted" \\ [a]*?`, `${word} 1000 xrealx`])
    for (const text of ['100%', '_real_', "'n", '"quoted"', '\\', '[a]*?', `${word} 100%`])
      expect(await search(server, `${word} ${text}`)).toHaveLength(1)
    expect(await search(server, `${word}%`)).toEqual([])
    expect(await search(server, `${word}_`)).toEqual([])
  })

  ok('names compare by code point on both stores', async server => {
    const word = newWord()
    const names = ['a', 'B', 'Z', '_', 'é', 'ß', '\uffee', '😀', '-', ' ', 'ab', 'a-', 'A'].map(
      each => `${word}${each}`,
    )
    await newGames(server, names)
    const expected = names.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    expect(namesOf(await search(server, word))).toEqual(expected)
    expect(namesOf(await search(server, word.slice(1)))).toEqual(expected)
  })

  ok('a game is found under its new name at once, and not after it is deleted (D-68)', async server => {
    const [before, after] = [newWord(), newWord()]
    const game = await newGame(server, { name: before })
    await server.control('PUT', `/games/${game.id}`, { name: after })
    expect(await search(server, before)).toEqual([])
    expect(idsOf(await search(server, after))).toEqual([game.id])
    await server.control('DELETE', `/games/${game.id}`)
    expect(await search(server, after)).toEqual([])
  })

  ok('a query of 500 code points is accepted', async server => {
    const word = newWord()
    const [game] = await newGames(server, [`${word} 😀`])
    const query = `${word} ${'😀'.repeat(500)}`
    expect((await ask(server, { query: { query: [...query].slice(0, 500).join('') } })).body.data).toEqual([])
    const many = `${word} ${'😀 '.repeat(500)}`
    expect(idsOf(await search(server, [...many].slice(0, 500).join('')))).toEqual([game?.id ?? ''])
  })

  ok('before is ignored (D-64)', async server => {
    const word = await shelfOf(server)
    const answer = await ask(server, { query: { query: word, before: 'x', first: 3 } })
    expect(answer.body.data).toHaveLength(3)
  })

  ok('a walk under change returns no game twice, and misses none that stayed as it was', async server => {
    const word = newWord()
    const names = Array.from({ length: 40 }, (_, n) => (n % 2 === 0 ? `${word} ${n}` : `Of ${n} ${word}`))
    const games = await newGames(server, names)
    const changed = new Set<string>()
    const rows = await walk(
      server,
      searchCategories,
      { token: server.world.client.app_token, query: { query: word } },
      () => 3,
      async page => {
        const [gone, renamed] = [games[(page * 7) % 40], games[(page * 11 + 3) % 40]]
        if (gone !== undefined && !changed.has(gone.id)) {
          changed.add(gone.id)
          await server.control('DELETE', `/games/${gone.id}`)
        }
        if (renamed !== undefined && !changed.has(renamed.id)) {
          changed.add(renamed.id)
          await newGame(server, { ...renamed, name: `No longer ${newWord()}` })
        }
        await newGame(server, { name: `${page % 2 === 0 ? '' : 'Also '}${word} ${newWord()}` })
      },
    )
    const found = idsOf(rows)
    expect(new Set(found).size).toBe(found.length)
    const stayed = games.map(game => game.id).filter(id => !changed.has(id))
    expect(stayed.length).toBeGreaterThan(5)
    expect(stayed.filter(id => !found.includes(id))).toEqual([])
  })

  ok('property: random names, queries and page sizes give the rows of a model', async server => {
    const mark = newWord()
    const piece = fc.constantFrom('a', 'A', 'b', 'ab', 'é', 'E\u0301', '😀', '\uffee', '%', '_', ' ', ' ')
    const text = fc.array(piece, { minLength: 1, maxLength: 6 }).map(parts => parts.join(''))
    const names = fc.sample(text, { numRuns: 60, seed: 5 })
    const games = await newGames(
      server,
      names.map((name, n) => (n % 2 === 0 ? `${name}${mark}` : `${mark}${name}`)),
    )
    await fc.assert(
      fc.asyncProperty(text, fc.nat(2), fc.integer({ min: 1, max: 9 }), async (wanted, shape, first) => {
        const query = [`${wanted} ${mark}`, `${mark}${wanted}`, `${wanted}${mark}`][shape] ?? mark
        const rows = await walk(
          server,
          searchCategories,
          { token: server.world.client.app_token, query: { query } },
          () => first,
        )
        expect(idsOf(rows)).toEqual(expectedOf(games, query))
      }),
      { numRuns: runs(40) },
    )
  })

  provePages(proofs, {
    operation: searchCategories,
    ask: async server => ({
      token: server.world.client.app_token,
      query: { query: await shelfOf(server) },
    }),
    otherFilters: async server => ({ query: (await shelfOf(server)).slice(1) }),
    otherCallers: server => [server.world.other_client.app_token, server.world.viewer.token],
  })

  for (const query of ['%20', '%20%20%09', '+', '%E3%80%80', '%C2%A0%0A']) {
    fails('missing_parameter', `when the query has only spaces: ${query}`, async server =>
      withMessage(await ask(server, { search: `query=${query}` }), 'Missing required parameter "query"'),
    )
  }
  fails('malformed_parameter', 'when the query has more than 500 code points', async server =>
    withMessage(
      await ask(server, { query: { query: '😀'.repeat(501) } }),
      'The parameter "query" was malformed: the value must be at most 500 characters',
    ),
  )
  fails('repeated_parameter', 'when the query is given twice', server =>
    ask(server, { search: 'query=a&query=b' }),
  )
})
