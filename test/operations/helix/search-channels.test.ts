import { expect } from 'bun:test'
import fc from 'fast-check'
import { searchChannels } from '../../../src/contract/helix/search-channels.ts'
import { normalizeName } from '../../../src/domain/search/normalize-name.ts'
import { describeOperation, expectProblem, send } from '../../support/operation.ts'
import { runs } from '../../support/properties.ts'
import type { Answer, Ask, TestServer } from '../../support/server.ts'
import { anyStreamKey } from '../../support/store/stores.ts'
import { goLive, goOffline } from './channels.ts'
import { cursorOf, idsOf, provePages, type Row, walk, withMessage } from './page-rules.ts'

const FIELDS = [
  'broadcaster_language',
  'broadcaster_login',
  'display_name',
  'game_id',
  'game_name',
  'id',
  'is_live',
  'tag_ids',
  'tags',
  'thumbnail_url',
  'title',
  'started_at',
]
const NOW = Date.parse('2026-03-01T12:00:00.000Z')

const ask = (server: TestServer, query: NonNullable<Ask['query']>, changes: Ask = {}) =>
  send(server, searchChannels, { token: server.world.client.app_token, query, ...changes })
const rowsOf = async (server: TestServer, query: NonNullable<Ask['query']>): Promise<Row[]> => {
  const answer = await ask(server, query)
  expect([answer.status, answer.body.message]).toEqual([200, undefined])
  return answer.body.data
}
const loginsOf = (rows: readonly Row[]): string[] => rows.map(row => row.broadcaster_login)
const search = (
  server: TestServer,
  query: NonNullable<Ask['query']>,
  sizeOf = (_: number) => 100,
  between?: (page: number) => Promise<void>,
) => walk(server, searchChannels, { token: server.world.client.app_token, query }, sizeOf, between)

interface Person {
  readonly login: string
  readonly display_name?: string
}

/** Users with these names, in one step. */
async function people(server: TestServer, firstId: number, persons: readonly Person[]): Promise<string[]> {
  const users = persons.map((person, n) => ({ id: String(firstId + n), ...person }))
  await server.strand.services.store.commands.runSteps({
    steps: users.map(user => ['putUser', { ...user, stream_key: anyStreamKey(user.id), now: NOW }] as const),
  })
  return users.map(user => user.id)
}

/** Lists of proofs that must not disturb one another have beginnings of their own. */
const PAGED = Array.from({ length: 30 }, (_, n) => ({
  login: `paged_${(n * 7) % 30}`,
  display_name: n % 3 === 0 ? `Other paged ${n}` : `Paged ${n}`,
}))

describeOperation(
  searchChannels,
  {
    valid: ({ world }) => ({ token: world.client.app_token, query: { query: world.broadcaster.login } }),
    server: { streams: 40 },
  },
  proofs => {
    const { ok, fails } = proofs

    provePages(proofs, {
      operation: searchChannels,
      ask: async server => {
        const known = await rowsOf(server, { query: 'paged_' })
        if (known.length === 0) await people(server, 8_000_000, PAGED)
        return { token: server.world.client.app_token, query: { query: 'paged' } }
      },
      otherFilters: () => ({ query: 'paged_' }),
      otherCallers: ({ world }) => [world.other_client.app_token, world.viewer.token],
    })

    ok('a live channel, with the twelve fields, none of them null', async server => {
      const { id, login } = server.world.broadcaster
      await server.control('PATCH', `/channels/${id}`, { title: 'First light', tags: ['Relaxed'] })
      const [stream] = (await server.call({ path: '/helix/streams', query: { user_id: id } })).body.data
      const expected = {
        broadcaster_language: stream.language,
        broadcaster_login: login,
        display_name: stream.user_name,
        game_id: stream.game_id,
        game_name: stream.game_name,
        id,
        is_live: true,
        tag_ids: [],
        tags: ['Relaxed'],
        thumbnail_url: `${server.url}/images/users/${id}-300x300.png`,
        title: 'First light',
        started_at: stream.started_at,
      }
      expect(stream.game_id).not.toBe('')
      for (const live_only of [undefined, 'true']) {
        const [row] = await rowsOf(server, { query: login, live_only })
        expect(row).toEqual(expected)
        expect(Object.keys(row)).toEqual(FIELDS)
      }
    })

    ok('a channel that is not live: its settings, and what it has not set is empty', async server => {
      const [id] = await people(server, 8_100_000, [{ login: 'quiet_heron', display_name: 'Quiet Heron' }])
      const plain = {
        broadcaster_language: 'en',
        broadcaster_login: 'quiet_heron',
        display_name: 'Quiet Heron',
        game_id: '',
        game_name: '',
        id,
        is_live: false,
        tag_ids: [],
        tags: [],
        thumbnail_url: `${server.url}/images/users/${id}-300x300.png`,
        title: '',
        started_at: '',
      }
      const [row] = await rowsOf(server, { query: 'quiet_heron' })
      expect(row).toEqual(plain)
      expect(Object.keys(row)).toEqual(FIELDS)
      const { game } = server.world
      const set = { title: 'Soon', language: 'de', tags: ['Calm'], game_id: game.id }
      await server.control('PATCH', `/channels/${id}`, set)
      const [{ name }] = await server.control('GET', `/games/${game.id}`)
      expect(await rowsOf(server, { query: 'quiet_heron' })).toEqual([
        {
          ...plain,
          title: 'Soon',
          broadcaster_language: 'de',
          tags: ['Calm'],
          game_id: game.id,
          game_name: name,
        },
      ])
      expect(await rowsOf(server, { query: 'quiet_heron', live_only: 'true' })).toEqual([])
    })

    ok('a start, a change and an end are seen at once where they were made', async server => {
      const [id = ''] = await people(server, 8_200_000, [{ login: 'at_once' }])
      const found = async () => {
        await server.settle()
        const [row] = await rowsOf(server, { query: 'at_once' })
        const live = await rowsOf(server, { query: 'at_once', live_only: 'true' })
        expect(live).toEqual(row.is_live ? [row] : [])
        return [row.is_live, row.title, row.started_at]
      }
      expect(await found()).toEqual([false, '', ''])
      const { started_at } = await goLive(server, id)
      expect(started_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
      expect(await found()).toEqual([true, '', started_at])
      await server.control('PATCH', `/channels/${id}`, { title: 'Changed' })
      expect(await found()).toEqual([true, 'Changed', started_at])
      await goOffline(server, id)
      expect(await found()).toEqual([false, 'Changed', ''])
    })

    ok(
      'the query begins the login or the display name, in any case; its middle does not count',
      async server => {
        await people(server, 8_300_000, [
          { login: 'fern_gully', display_name: 'Fern_Gully' },
          { login: 'moss', display_name: 'Fern Friend' },
          { login: 'not_fern' },
          { login: 'kana', display_name: 'シダの森' },
          { login: 'accent', display_name: 'E\u0301COLE' },
        ])
        expect(loginsOf(await rowsOf(server, { query: 'FERN' }))).toEqual(['fern_gully', 'moss'])
        expect(loginsOf(await rowsOf(server, { query: 'fern f' }))).toEqual(['moss'])
        expect(loginsOf(await rowsOf(server, { query: 'シダ' }))).toEqual(['kana'])
        expect(loginsOf(await rowsOf(server, { query: '\u00c9co' }))).toEqual(['accent'])
        for (const query of ['gully', 'fern%', 'fern_g_', 'f_rn', '%', 'fern*', "fern' or 1=1", 'シダ森'])
          expect({ query, rows: await rowsOf(server, { query }) }).toEqual({ query, rows: [] })
      },
    )

    ok('a space also stands for _ and for nothing', async server => {
      await people(server, 8_400_000, [
        { login: 'sand_piper' },
        { login: 'sandpiper' },
        { login: 'third', display_name: 'Sand Piper' },
        { login: 'sand_xpiper' },
      ])
      const expected = ['sand_piper', 'sandpiper', 'third']
      expect(loginsOf(await rowsOf(server, { query: 'sand piper' }))).toEqual(expected)
      expect(loginsOf(await rowsOf(server, { query: 'Sand P' }))).toEqual(expected)
      expect(loginsOf(await rowsOf(server, { query: 'sand_p' }))).toEqual(['sand_piper'])
      expect(loginsOf(await rowsOf(server, { query: 'sandp' }))).toEqual(['sandpiper'])
    })

    ok('the channel with exactly that login comes first, then logins by code point', async server => {
      await people(server, 8_500_000, [
        { login: 'dune' },
        { login: 'dune_9' },
        { login: 'dune9' },
        { login: 'dunea' },
        { login: 'aaa_dune', display_name: 'Dune' },
        { login: '0_dune', display_name: 'Dune the first' },
      ])
      const expected = ['dune', '0_dune', 'aaa_dune', 'dune9', 'dune_9', 'dunea']
      expect(loginsOf(await rowsOf(server, { query: 'Dune' }))).toEqual(expected)
      for (const first of [1, 2, 5])
        expect(loginsOf(await search(server, { query: 'dune' }, () => first))).toEqual(expected)
    })

    ok('live_only=true: only live channels, also by the beginning of their game', async server => {
      const [game] = await server.control('POST', '/games', { name: 'Ähre und Korn' })
      const ids = await people(server, 8_600_000, [
        { login: 'reaper' },
        { login: 'mower' },
        { login: 'sower' },
        { login: 'ahre' },
      ])
      const [reaper = '', mower = '', sower = ''] = ids
      for (const id of [reaper, mower, sower])
        await server.control('PATCH', `/channels/${id}`, { game_id: game.id })
      await goLive(server, mower)
      await goLive(server, reaper)
      await server.settle()
      for (const live_only of ['true', 'True', 'TRUE'])
        expect(loginsOf(await rowsOf(server, { query: 'ÄHRE', live_only }))).toEqual(['mower', 'reaper'])
      expect(await rowsOf(server, { query: 'korn', live_only: 'true' })).toEqual([])
      for (const live_only of ['false', 'False', 'FALSE', '', undefined])
        expect(await rowsOf(server, { query: 'ÄHRE', live_only })).toEqual([])
      await server.control('PUT', `/games/${game.id}`, { name: 'Roggen' })
      await server.settle()
      expect(await rowsOf(server, { query: 'ähre', live_only: 'true' })).toEqual([])
      expect(loginsOf(await rowsOf(server, { query: 'rogg', live_only: 'true' }))).toEqual([
        'mower',
        'reaper',
      ])
      for (const id of [mower, reaper]) await goOffline(server, id)
    })

    ok(
      'property: what is found is what a plain search finds, page by page, for any names and queries',
      async server => {
        const letters = ['a', 'b', 'B', '_', ' ', 'é', 'É', '%', 'ß', '字', '😀', '\u{10ffff}', '\ud7ff']
        const text = fc.string({ unit: fc.constantFrom(...letters), minLength: 1, maxLength: 4 })
        const login = fc.string({ unit: fc.constantFrom('a', 'b', '_', '9'), minLength: 1, maxLength: 4 })
        const drawn = fc.sample(
          fc.record({ login, display_name: text, game: fc.nat(3), live: fc.boolean() }),
          {
            numRuns: runs(150),
            seed: 42,
          },
        )
        const persons = [...new Map(drawn.map(each => [each.login, each])).values()]
        const games: { id: string; name: string }[] = []
        for (const name of ['a b', 'É', 'B字'])
          games.push((await server.control('POST', '/games', { name }))[0])
        const ids = await people(
          server,
          9_000_000,
          persons.map(({ login, display_name }) => ({
            login: `zz${login}`,
            display_name: `zz${display_name}`,
          })),
        )
        const model: { login: string; names: string[]; live: boolean }[] = []
        for (const [n, person] of persons.entries()) {
          const game = games[person.game]
          if (game !== undefined) await server.control('PATCH', `/channels/${ids[n]}`, { game_id: game.id })
          if (person.live) await goLive(server, ids[n] ?? '')
          model.push({
            login: `zz${person.login}`,
            names: [
              `zz${person.login}`,
              normalizeName(`zz${person.display_name}`),
              ...(game ? [normalizeName(game.name)] : []),
            ],
            live: person.live,
          })
        }
        await server.settle()
        const expected = (query: string, live_only: boolean) => {
          const normalized = normalizeName(query)
          const spellings = [normalized, normalized.replaceAll(' ', '_'), normalized.replaceAll(' ', '')]
          const begins = (name: string | undefined) => spellings.some(each => name?.startsWith(each))
          const fitting = model.filter(({ names: [login, name, game], live }) =>
            live_only
              ? live && (begins(login) || begins(name) || begins(game))
              : begins(login) || begins(name),
          )
          const exact = (login: string) => (spellings.includes(login) ? 0 : 1)
          return fitting.map(each => each.login).sort((a, b) => exact(a) - exact(b) || (a < b ? -1 : 1))
        }
        await fc.assert(
          fc.asyncProperty(
            fc.oneof(
              text.map(each => `zz${each}`),
              login.map(each => `ZZ${each}`),
              fc.constantFrom('zz', 'ZZ', 'z', 'zz ', 'z z'),
              fc.constantFrom('a', 'A B', 'É', 'b字', 'ab', 'a_'),
            ),
            fc.boolean(),
            fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 4 }),
            async (query, live_only, sizes) => {
              const found = await search(
                server,
                { query, ...(live_only && { live_only: 'true' }) },
                page => sizes[page % sizes.length] as number,
              )
              // Channels of the demo may fit too.
              const own = loginsOf(found).filter(login => login.startsWith('zz'))
              expect({ query, live_only, own }).toEqual({ query, live_only, own: expected(query, live_only) })
            },
          ),
          { numRuns: runs(server.engine === 'sqlite' ? 250 : 100) },
        )
        for (const [n, person] of persons.entries()) if (person.live) await goOffline(server, ids[n] ?? '')
      },
    )

    for (const live_only of ['false', 'true']) {
      ok(
        `while names and streams change, nothing is twice or missing, with live_only=${live_only}`,
        async server => {
          const base = live_only === 'true' ? 8_700_000 : 8_800_000
          const tag = live_only === 'true' ? 'ebb' : 'flow'
          const ids = await people(
            server,
            base,
            Array.from({ length: 40 }, (_, n) => ({
              login: n % 2 === 0 ? `${tag}_${n}` : `${n}_${tag}`,
              display_name: `${tag} ${n}`,
            })),
          )
          for (const id of ids) await goLive(server, id)
          await server.settle()
          const leaving = ids.filter((_, n) => n % 5 === 3)
          const rows = await search(
            server,
            { query: tag, live_only },
            page => 1 + (page % 4),
            async page => {
              const gone = leaving[page]
              if (gone !== undefined) await server.control('DELETE', `/users/${gone}`)
              const [come] = await people(server, base + 1000 + page, [{ login: `${tag}${page}_new` }])
              await goLive(server, come ?? '')
            },
          )
          const seen = idsOf(rows)
          expect(new Set(seen).size).toBe(seen.length)
          expect(ids.filter(id => !leaving.includes(id) && !seen.includes(id))).toEqual([])
          for (const { id } of await search(server, { query: tag, live_only: 'true' }))
            await goOffline(server, id)
        },
      )
    }

    ok('before is ignored, and so are other parameters', async server => {
      const { login } = server.world.broadcaster
      const plain = (await ask(server, { query: login })).body
      expect((await ask(server, { query: login, before: 'AAAA', sort: 'x' })).body).toEqual(plain)
      expect((await ask(server, { query: login }, { path: '/mock/search/channels' })).body).toEqual(plain)
    })

    ok('20 rows without first', async server => {
      await people(
        server,
        8_900_000,
        Array.from({ length: 25 }, (_, n) => ({ login: `twenty_${n}` })),
      )
      const answer = await ask(server, { query: 'twenty' })
      expect(answer.body.data).toHaveLength(20)
      expect(cursorOf(answer)).toBeDefined()
    })

    fails('missing_parameter', 'without a query, and with one of spaces only', async server => {
      const message = 'Missing required parameter "query"'
      for (const query of [undefined, '', ' ', '   ', '\t \u3000'])
        expectProblem(searchChannels, withMessage(await ask(server, { query }), message), 'missing_parameter')
      return ask(server, { query: ' ', live_only: 'true' })
    })
    fails('malformed_parameter', 'when live_only is another word', async server => {
      const message = 'The parameter "live_only" was malformed: the value must be true or false'
      let answer: Answer | undefined
      for (const live_only of ['1', '0', 'yes', 'truee', ' true', 'true ', 'null', 'ture']) {
        answer = withMessage(await ask(server, { query: 'a', live_only }), message)
        expectProblem(searchChannels, answer, 'malformed_parameter')
      }
      return answer as Answer
    })
    fails('malformed_parameter', 'when the query is longer than any name', async server =>
      withMessage(
        await ask(server, { query: 'x'.repeat(501) }),
        'The parameter "query" was malformed: the value must be at most 500 characters',
      ),
    )
    fails('malformed_parameter', 'when the query contains U+0000', server =>
      ask(server, {}, { search: 'query=a%00b' }),
    )
    fails('repeated_parameter', 'when the query is given twice', server => ask(server, { query: ['a', 'b'] }))
    fails('invalid_cursor', 'when the cursor is of a search with live_only', async server => {
      const query = { query: 'a', first: 1 }
      const cursor = cursorOf(await ask(server, { ...query, live_only: 'true' }))
      expect(cursor).toBeDefined()
      return ask(server, { ...query, after: cursor })
    })
  },
)
