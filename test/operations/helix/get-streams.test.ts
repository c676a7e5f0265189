import { expect } from 'bun:test'
import { connect } from 'node:net'
import { getStreams } from '../../../src/contract/helix/get-streams.ts'
import { describeOperation, expectProblem, send } from '../../support/operation.ts'
import type { Answer, Ask, TestServer } from '../../support/server.ts'
import { goLive, goOffline, newChannel, newLiveChannel } from './channels.ts'
import { cursorOf, idsOf, provePages, type Row, walk, withMessage } from './page-rules.ts'

const ask = (server: TestServer, changes: Ask = {}) => send(server, getStreams, changes)
const valid = (): Ask => ({})
const STREAM_FIELDS = [
  'id',
  'user_id',
  'user_login',
  'user_name',
  'game_id',
  'game_name',
  'type',
  'title',
  'viewer_count',
  'started_at',
  'language',
  'thumbnail_url',
  'tag_ids',
  'tags',
  'is_mature',
]

const everything = (server: TestServer, query: NonNullable<Ask['query']> = {}) =>
  walk(server, getStreams, { query }, () => 100)
const usersOf = (rows: readonly Row[]): string[] => rows.map(row => row.user_id)
const rowsOf = async (server: TestServer, query: NonNullable<Ask['query']>): Promise<Row[]> =>
  (await ask(server, { query })).body.data
const inOrder = (rows: readonly Row[]) =>
  rows.toSorted((a, b) => b.viewer_count - a.viewer_count || (BigInt(b.id) > BigInt(a.id) ? 1 : -1))

/** The ranking may be a second old (D-34): asks until it shows what the look-up by user shows. */
async function settled(server: TestServer, query: NonNullable<Ask['query']> = {}): Promise<Row[]> {
  for (const deadline = Date.now() + 3000; ; ) {
    const rows = await everything(server, query)
    const now = await Promise.all(
      Array.from({ length: Math.ceil(rows.length / 100) }, (_, n) =>
        rowsOf(server, { ...query, user_id: usersOf(rows).slice(n * 100, n * 100 + 100) }),
      ),
    )
    const { size } = server.strand.services.directory
    const complete = Object.keys(query).length > 0 || rows.length === size
    if (complete && JSON.stringify(inOrder(now.flat())) === JSON.stringify(rows)) return rows
    if (Date.now() > deadline) throw new Error('the ranking does not catch up')
  }
}

/** A request line exactly as given. */
function rawGet(server: TestServer, target: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
    socket.on('data', bytes => {
      text += bytes
    })
    socket.on('close', () => resolve(text))
    socket.on('error', reject)
    socket.write(`GET ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`)
  })
}

/** Moves everything: all counts change, and at each turn one stream ends and one starts. */
function unrest(
  server: TestServer,
  users: readonly string[],
  leaving: readonly string[],
  coming: readonly string[],
) {
  let turn = 0
  return async () => {
    turn += 1
    const counts = Object.fromEntries(users.map((id, index) => [id, (index * 7919 * turn + turn) % 20_011]))
    await server.control('POST', '/viewers', { counts })
    const [gone, come] = [leaving[turn - 1], coming[turn - 1]]
    if (gone !== undefined) await goOffline(server, gone)
    if (come !== undefined) await goLive(server, come, { viewer_count: (turn * 4001) % 20_011 })
  }
}

/** A third of the channels may leave, new ones come; who is live throughout is steady. */
async function castFor(server: TestServer, rows: readonly Row[]) {
  const users = usersOf(rows)
  const leaving = users.filter((_, index) => index % 9 === 4)
  const coming = await Promise.all(Array.from({ length: 8 }, async () => (await newChannel(server)).id))
  const steady = users.filter(id => !leaving.includes(id))
  const restore = async () => {
    for (const id of leaving) await goLive(server, id)
    for (const id of coming) {
      await server.call({
        method: 'DELETE',
        path: `/control/channels/${id}/stream`,
        token: server.world.operator_token,
      })
    }
  }
  return { users, leaving, coming, steady, restore }
}

function expectEachOnce(seen: readonly Row[], steady: readonly string[]) {
  const users = usersOf(seen)
  expect(users.filter((id, index) => users.indexOf(id) !== index)).toEqual([])
  expect(steady.filter(id => !users.includes(id))).toEqual([])
}

describeOperation(getStreams, { valid, server: { streams: 130 } }, proofs => {
  const { ok, fails } = proofs

  provePages(proofs, {
    operation: getStreams,
    ask: valid,
    otherFilters: ({ world }) => ({ game_id: world.game.id }),
    otherCallers: ({ world }) => [world.client.app_token, world.viewer.token],
  })

  ok('lists the fourteen fields, none of them null', async server => {
    const rows = await everything(server)
    expect(rows).toHaveLength(130)
    for (const row of rows) {
      expect(Object.keys(row)).toEqual(STREAM_FIELDS)
      for (const name of STREAM_FIELDS) expect(row[name]).not.toBeNull()
      for (const id of [row.id, row.user_id]) expect(id).toMatch(/^[1-9][0-9]*$/)
      expect(row.user_login).toMatch(/^[a-z0-9_]+$/)
      expect(row.user_name.toLowerCase()).toBe(row.user_login)
      expect(row.game_id).toMatch(/^[0-9]*$/)
      expect(row.game_id === '').toBe(row.game_name === '')
      expect(row.type).toBe('live')
      expect(typeof row.title).toBe('string')
      expect(Number.isSafeInteger(row.viewer_count) && row.viewer_count >= 0).toBe(true)
      expect(row.started_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
      expect(row.language).toMatch(/^[a-z]{2}$/)
      expect(row.thumbnail_url).toBe(`${server.url}/images/channels/${row.user_id}-{width}x{height}.png`)
      expect(row.tags.every((tag: unknown) => typeof tag === 'string')).toBe(true)
      expect(typeof row.is_mature).toBe('boolean')
    }
    expect(new Set(rows.map(row => row.is_mature)).size).toBe(2)
  })

  ok('what a channel has not set is empty, not null', async server => {
    const channel = await newLiveChannel(server)
    const [row] = await rowsOf(server, { user_id: channel.id })
    expect(row).toMatchObject({
      game_id: '',
      game_name: '',
      title: '',
      tags: [],
      viewer_count: 0,
      language: 'en',
      is_mature: false,
    })
    await goOffline(server, channel.id)
  })

  ok('most viewers first, then the larger id as a number', async server => {
    const { commands } = server.strand.services.store
    const ids = ['9', '10', '99999999999', '1000000000000000000', '999999999999999999']
    const channels = await Promise.all(ids.map(() => newChannel(server)))
    for (const [index, stream_id] of ids.entries()) {
      const { id: user_id } = channels[index] as { id: string }
      const started_at = '2026-03-01T12:00:00Z'
      await commands.startStream({
        user_id,
        stream_id,
        video_id: `77${index}`,
        started_at,
        viewer_count: 123,
      })
    }
    await server.settle()
    const user_id = channels.map(channel => channel.id)
    const expected = ids.toSorted((a, b) => (BigInt(a) < BigInt(b) ? 1 : -1))
    expect(idsOf(await rowsOf(server, { user_id }))).toEqual(expected)
    expect(idsOf(await walk(server, getStreams, { query: { user_id } }, () => 2))).toEqual(expected)
    const all = await settled(server)
    expect(idsOf(all)).toEqual(idsOf(inOrder(all)))
    expect(idsOf(all.filter(row => ids.includes(row.id)))).toEqual(expected)
    for (const id of user_id) await goOffline(server, id)
  })

  ok('20 rows without first; 100 when users are named by id or login', async server => {
    const all = await settled(server)
    const plain = await ask(server)
    expect(idsOf(plain.body.data)).toEqual(idsOf(all).slice(0, 20))
    expect((await ask(server, { search: 'game_id=&language=' })).body.data).toHaveLength(20)
    const filtered = await ask(server, { query: { language: 'en' } })
    expect(filtered.body.data).toHaveLength(20)
    const some = all.slice(15, 115)
    for (const query of [{ user_id: usersOf(some) }, { user_login: some.map(row => row.user_login) }]) {
      const batch = await ask(server, { query })
      expect(batch.body.data).toEqual(some)
      expect(batch.body.pagination).toEqual({})
      const few = await ask(server, { query: { ...query, first: 3 } })
      expect(few.body.data).toEqual(some.slice(0, 3))
      const rest = await ask(server, { query: { ...query, after: cursorOf(few) } })
      expect(rest.body.data).toEqual(some.slice(3))
    }
    const both = {
      user_id: usersOf(all).slice(0, 100),
      user_login: all.slice(30).map(row => row.user_login),
    }
    const union = await ask(server, { query: both })
    expect(union.body.data).toEqual(all.slice(0, 100))
    const rest = await ask(server, { query: { ...both, after: cursorOf(union) } })
    expect(rest.body.data).toEqual(all.slice(100))
  })

  ok('matches (user_id or user_login) and game_id and language', async server => {
    const all = await settled(server)
    const values = (name: string, step: number) =>
      [...new Set(all.filter((_, index) => index % step === 1).map(row => row[name] as string))]
        .filter(Boolean)
        .slice(0, 100)
    const users = values('user_id', 2)
    const logins = values('user_login', 5)
    const [games, languages] = [values('game_id', 31), ['de', 'ja']]
    for (let choice = 0; choice < 16; choice++) {
      const query = {
        ...(choice & 1 && { user_id: users }),
        ...(choice & 2 && { user_login: logins }),
        ...(choice & 4 && { game_id: games }),
        ...(choice & 8 && { language: languages }),
      }
      const expected = all.filter(
        row =>
          (!(choice & 3) ||
            (choice & 1 && users.includes(row.user_id)) ||
            (choice & 2 && logins.includes(row.user_login))) &&
          (!(choice & 4) || games.includes(row.game_id)) &&
          (!(choice & 8) || languages.includes(row.language)),
      )
      expect({ choice, ids: idsOf(await everything(server, query)) }).toEqual({
        choice,
        ids: idsOf(expected),
      })
      expect(idsOf(await walk(server, getStreams, { query }, () => 7))).toEqual(idsOf(expected))
    }
  })

  ok('logins match in any case and are answered as they are', async server => {
    const { id, login } = server.world.broadcaster
    for (const user_login of [
      login.toUpperCase(),
      login,
      login.replace(/^./, letter => letter.toUpperCase()),
    ]) {
      const rows = await rowsOf(server, { user_login })
      expect(rows.map(row => [row.user_id, row.user_login])).toEqual([[id, login]])
    }
    const [user] = await server.control('POST', '/users', { login: 'MiXeD_Case', display_name: 'Mixed Case' })
    await goLive(server, user.id)
    const [row] = await rowsOf(server, { user_login: 'mixed_CASE' })
    expect([row.user_login, row.user_name]).toEqual(['mixed_case', 'Mixed Case'])
    expect(row.thumbnail_url).toEndWith(`/images/channels/${user.id}-{width}x{height}.png`)
    await server.control('DELETE', `/users/${user.id}`)
    expect(await rowsOf(server, { user_login: 'mixed_case' })).toEqual([])
  })

  ok('no channel is listed twice, however often named', async server => {
    const { id, login } = server.world.broadcaster
    const query = { user_id: [id, id, id], user_login: [login, login.toUpperCase()] }
    for (const first of [1, 2, 100]) {
      const answer = await ask(server, { query: { ...query, first } })
      expect(usersOf(answer.body.data)).toEqual([id])
      expect(answer.body.pagination).toEqual({})
    }
  })

  ok('who is offline or unknown is absent, and odd values match nothing', async server => {
    const { broadcaster, offline } = server.world
    const odd = [
      '999',
      'abc',
      `0${broadcaster.id}`,
      `${broadcaster.id},${offline.id}`,
      ` ${broadcaster.id}`,
      '__proto__',
    ]
    expect(usersOf(await rowsOf(server, { user_id: [...odd, offline.id, broadcaster.id] }))).toEqual([
      broadcaster.id,
    ])
    for (const query of [
      { user_id: odd },
      { user_id: offline.id },
      {
        user_login: [
          'nobody_at_all',
          `${broadcaster.login},x`,
          `${broadcaster.login} `,
          'constructor',
          '日本',
        ],
      },
      { game_id: ['1', 'abc', `${server.world.game.id},1`] },
      { language: ['en,de', 'english', 'xx'] },
      { user_id: broadcaster.id, game_id: '1' },
    ]) {
      const answer = await ask(server, { query })
      expect({ query, status: answer.status, body: answer.body }).toEqual({
        query,
        status: 200,
        body: { data: [], pagination: {} },
      })
    }
  })

  ok('type all, live, empty or none list the same', async server => {
    const all = await settled(server)
    for (const type of ['all', 'live', '']) expect(await everything(server, { type })).toEqual(all)
  })

  ok('takes 100 values in each list at once, a request line of 9.5 KB', async server => {
    const { broadcaster, game } = server.world
    const [{ language }] = await rowsOf(server, { user_id: broadcaster.id })
    const fill = (own: string, other: (n: number) => string) => [
      ...Array.from({ length: 99 }, (_, n) => other(n)),
      own,
    ]
    const query = {
      user_id: fill(broadcaster.id, n => `90000000000000000${10 + n}`.slice(0, 19)),
      user_login: fill(broadcaster.login, n => `an_invented_long_login_${10 + n}`.slice(0, 25)),
      game_id: fill(game.id, n => `80000000000000000${10 + n}`.slice(0, 19)),
    }
    const search = Object.entries(query).map(([name, list]) =>
      list.map(value => `${name}=${value}`).join('&'),
    )
    expect(search.join('&').length).toBeGreaterThan(9000)
    expect(usersOf((await ask(server, { search: search.join('&') })).body.data)).toEqual([broadcaster.id])
    expect(usersOf(await rowsOf(server, query))).toEqual([broadcaster.id])
    const withLanguages = { ...query, language: fill(language, () => 'xx') }
    expect(usersOf(await rowsOf(server, withLanguages))).toEqual([broadcaster.id])
  })

  ok('a trailing ?, && and stray parameters are fine, and so is any Accept', async server => {
    const whole = await settled(server)
    for (const target of [
      '/helix/streams?',
      '/helix/streams?&',
      '/helix/streams?&first=20&&type=all&',
      '/helix/streams?first&after&user_id',
      '/helix/streams?before=&=&=x&nonsense=1&first=20&__proto__=1&user_id[]=1',
    ]) {
      const text = await rawGet(server, target)
      expect({ target, status: text.split('\r\n', 1)[0] }).toEqual({ target, status: 'HTTP/1.1 200 OK' })
      const body = JSON.parse(text.slice(text.indexOf('\r\n\r\n') + 4))
      expect(idsOf(body.data)).toEqual(idsOf(whole).slice(0, 20))
    }
    for (const headers of [
      { Accept: 'application/vnd.twitchtv.v5+json' },
      { Accept: 'text/html', 'Content-Type': 'application/json' },
      { Accept: '' },
    ]) {
      const answer = await ask(server, { headers, search: 'first=1' })
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/json'])
    }
  })

  ok('anonymous answers may be kept for a second, others not', async server => {
    const headersOf = async (changes: Ask) => {
      const { status, headers } = await ask(server, changes)
      return [status, headers.get('cache-control'), headers.get('vary')]
    }
    const { client, viewer } = server.world
    expect(await headersOf({})).toEqual([200, 'public, max-age=1', 'Authorization'])
    expect(await headersOf({ headers: { 'Client-Id': client.id } })).toEqual([
      200,
      'public, max-age=1',
      'Authorization',
    ])
    expect(await headersOf({ token: client.app_token })).toEqual([200, 'no-store', 'Authorization'])
    expect(await headersOf({ token: viewer.token })).toEqual([200, 'no-store', 'Authorization'])
    expect((await headersOf({ search: 'first=0' })).slice(0, 2)).toEqual([400, 'no-store'])
    expect((await headersOf({ token: 'x' })).slice(0, 2)).toEqual([401, 'no-store'])
  })

  ok(
    'every caller sees the same rows: without a token, with an unknown Client-Id, an app, a user without scopes',
    async server => {
      const { client, other_client, viewer } = server.world
      const [{ access_token }] = await server.control('POST', '/tokens', {
        client_id: client.id,
        user_id: viewer.id,
        scopes: [],
      })
      const { data } = (await ask(server, { search: 'first=5' })).body
      for (const changes of [
        { headers: { 'Client-Id': 'unknown-client' } },
        { token: client.app_token, headers: { 'Client-Id': client.id } },
        { token: other_client.app_token },
        { token: access_token },
        { headers: { Authorization: `bEaReR ${viewer.token}` } },
      ]) {
        expect((await ask(server, { ...changes, search: 'first=5' })).body.data).toEqual(data)
      }
    },
  )

  ok('pages go back with before as they went forward with after', async server => {
    const all = idsOf(await settled(server))
    const first = await ask(server, { search: 'first=20' })
    const second = await ask(server, { search: `first=30&after=${cursorOf(first)}` })
    expect(idsOf(second.body.data)).toEqual(all.slice(20, 50))
    const back = await ask(server, { search: `first=7&before=${cursorOf(second)}` })
    expect(idsOf(back.body.data)).toEqual(all.slice(13, 20))
    const again = await ask(server, { search: `first=5&after=${cursorOf(back)}` })
    expect(idsOf(again.body.data)).toEqual(all.slice(20, 25))
    const start = await ask(server, { search: `first=100&before=${cursorOf(back)}` })
    expect(idsOf(start.body.data)).toEqual(all.slice(0, 13))
    expect(start.body.pagination).toEqual({})
    const beyond = await ask(server, { search: `before=${cursorOf(first)}` })
    expect(beyond.body).toEqual({ data: [], pagination: {} })
    const exact = await ask(server, { search: `first=13&before=${cursorOf(back)}` })
    expect(idsOf(exact.body.data)).toEqual(all.slice(0, 13))
    expect(exact.body.pagination).toEqual({})
  })

  for (const size of [1, 7, 33]) {
    ok(`a walk in pages of ${size} shows what is live throughout once, though all moves`, async server => {
      const cast = await castFor(server, await settled(server))
      const move = unrest(server, cast.users, cast.leaving, cast.coming)
      const seen = await walk(server, getStreams, {}, () => size, move)
      expectEachOnce(seen, cast.steady)
      await cast.restore()
    })
  }

  ok('a walk back shows what is live throughout once, though all moves', async server => {
    const rows = await settled(server)
    const cast = await castFor(server, rows)
    const move = unrest(server, cast.users, cast.leaving, cast.coming)
    const first = await ask(server, { search: 'first=60' })
    await move()
    const second = await ask(server, { search: `first=40&after=${cursorOf(first)}` })
    expectEachOnce(
      [...first.body.data, ...second.body.data],
      usersOf(rows.slice(0, 100)).filter(id => cast.steady.includes(id)),
    )
    const seen: Row[] = []
    for (let before = cursorOf(second); before !== undefined; ) {
      await move()
      const page = await ask(server, { search: `first=7&before=${before}` })
      seen.unshift(...page.body.data)
      before = cursorOf(page)
    }
    expectEachOnce(
      seen,
      usersOf(rows.slice(0, 60)).filter(id => cast.steady.includes(id)),
    )
    const places = new Map(usersOf(rows).map((id, place) => [id, place]))
    const order = usersOf(seen).map(id => places.get(id) ?? -1)
    expect(order).toEqual(order.toSorted((a, b) => a - b))
    await cast.restore()
  })

  ok('a walk through named users holds too, and so does one through a filter', async server => {
    const rows = await settled(server)
    for (const query of [{ user_id: usersOf(rows).slice(10, 110) }, { language: 'en' }]) {
      const matching = await settled(server, query)
      const cast = await castFor(server, matching)
      const move = unrest(server, cast.users, cast.leaving, [])
      const seen = await walk(server, getStreams, { query }, page => 2 + (page % 9), move)
      expectEachOnce(seen, cast.steady)
      await cast.restore()
    }
  })

  ok('what ends, or no longer matches, is left out of the pages to come', async server => {
    const query = { language: 'en' }
    const matching = await settled(server, query)
    const page = await ask(server, { query: { ...query, first: 5 } })
    const [, , , , , ends, turns] = matching
    await goOffline(server, ends.user_id)
    await server.control('PATCH', `/channels/${turns.user_id}`, { language: 'fr' })
    const next = await ask(server, { query: { ...query, first: 5, after: cursorOf(page) } })
    expect(usersOf(next.body.data)).toEqual(usersOf(matching).slice(7, 12))
    await server.control('PATCH', `/channels/${turns.user_id}`, { language: 'en' })
    await goLive(server, ends.user_id, { viewer_count: ends.viewer_count })
  })

  ok('a look-up by user sees start, change, viewers, rename and end at once', async server => {
    const channel = await newChannel(server)
    const byId = () => rowsOf(server, { user_id: channel.id })
    const byLogin = (user_login: string) => rowsOf(server, { user_login })
    for (let round = 0; round < 10; round++) {
      expect(await byId()).toEqual([])
      const stream = await goLive(server, channel.id, { viewer_count: 5 })
      expect(await byId()).toEqual([stream])
      const change = {
        title: `Round ${round}`,
        game_id: server.world.game.id,
        language: 'ko',
        tags: ['A', 'B'],
        is_mature: round % 2 === 0,
      }
      await server.control('PATCH', `/channels/${channel.id}`, change)
      const [changed] = await byId()
      expect(changed).toMatchObject({ ...change, id: stream.id })
      expect(changed.game_name).not.toBe('')
      await server.control('POST', '/viewers', { counts: { [channel.id]: 77 + round } })
      expect((await byId())[0].viewer_count).toBe(77 + round)

      const former = changed.user_login
      const login = `renamed_${server.engine}_${round}`
      await server.control('PUT', `/users/${channel.id}`, { login, display_name: `Renamed ${round}` })
      expect(await byLogin(former)).toEqual([])
      const [renamed] = await byLogin(login)
      expect(renamed).toMatchObject({ id: stream.id, user_login: login, user_name: `Renamed ${round}` })
      expect(renamed.thumbnail_url).toBe(stream.thumbnail_url)

      await server.control('PATCH', `/channels/${channel.id}`, { game_id: '', tags: [] })
      expect((await byId())[0]).toMatchObject({ game_id: '', game_name: '', tags: [] })
      await goOffline(server, channel.id)
      expect(await byLogin(login)).toEqual([])
    }
  })

  ok('a login that changes hands leads to its new owner', async server => {
    const [one, two] = [await newLiveChannel(server), await newLiveChannel(server)]
    await server.control('PUT', `/users/${one.id}`, { login: `free_${one.login}`.slice(0, 25) })
    await server.control('PUT', `/users/${two.id}`, { login: one.login })
    expect(usersOf(await rowsOf(server, { user_login: one.login }))).toEqual([two.id])
    await goOffline(server, one.id)
    expect(usersOf(await rowsOf(server, { user_login: one.login }))).toEqual([two.id])
    await server.control('PUT', `/users/${one.id}`, { login: two.login })
    await goLive(server, one.id)
    expect(usersOf(await rowsOf(server, { user_login: [one.login, two.login] })).toSorted()).toEqual(
      [one.id, two.id].toSorted(),
    )
    for (const { id } of [one, two]) await goOffline(server, id)
  })

  ok('a stream that starts again is a new one, and a start while live is the same', async server => {
    const channel = await newChannel(server)
    const first = await goLive(server, channel.id, { viewer_count: 3 })
    expect((await goLive(server, channel.id)).id).toBe(first.id)
    await goOffline(server, channel.id)
    const second = await goLive(server, channel.id)
    expect(second.id).not.toBe(first.id)
    expect(idsOf(await rowsOf(server, { user_id: channel.id }))).toEqual([second.id])
    await goOffline(server, channel.id)
  })

  ok('the ranking shows a start and an end within a second', async server => {
    const channel = await newChannel(server)
    const isListed = async () => usersOf(await rowsOf(server, { first: 1 })).includes(channel.id)
    const within = async (wanted: boolean) => {
      const began = performance.now()
      // What counts is when the last old answer was requested, not how long it took.
      let lastOld = 0
      while (lastOld < 1500) {
        const asked = performance.now() - began
        if ((await isListed()) === wanted) break
        lastOld = asked
      }
      expect(lastOld).toBeLessThan(1500)
    }
    await within(false)
    await goLive(server, channel.id, { viewer_count: 1_999_999_999 })
    await within(true)
    await goOffline(server, channel.id)
    await within(false)
  })

  fails('malformed_parameter', 'when type is another word', async server => {
    const message = 'The parameter "type" was malformed: value must be one of "all", "live"'
    let answer: Answer | undefined
    for (const type of ['vodcast', 'LIVE', 'all,live', 'playlist']) {
      answer = withMessage(await ask(server, { query: { type } }), message)
      expectProblem(getStreams, answer, 'malformed_parameter')
    }
    return answer as Answer
  })
  for (const name of ['user_id', 'user_login', 'game_id', 'language']) {
    fails('malformed_parameter', `with 101 values of ${name}, though they be one value`, async server => {
      expect((await ask(server, { query: { [name]: Array(100).fill('1') } })).status).toBe(200)
      return withMessage(
        await ask(server, { query: { [name]: Array(101).fill('1') } }),
        `The parameter "${name}" was malformed: the value must be less than or equal to 100`,
      )
    })
    fails('malformed_parameter', `when ${name} contains U+0000`, server =>
      ask(server, { search: `${name}=a%00b` }),
    )
  }
  fails('malformed_query', 'with a broken escape or half a character', async server => {
    for (const search of ['user_login=%', 'user_login=%zz', 'user_login=%C3', 'user_login=%ED%A0%80']) {
      expectProblem(getStreams, await ask(server, { search }), 'malformed_query')
    }
    return ask(server, { search: '%FF=1' })
  })
  fails('repeated_parameter', 'when type is given twice', server =>
    ask(server, { query: { type: ['all', 'all'] } }),
  )
  fails('both_cursors', 'with after and before that are both good', async server => {
    const cursor = cursorOf(await ask(server, { search: 'first=1' }))
    return ask(server, { search: `after=${cursor}&before=${cursor}` })
  })
  fails('invalid_cursor', 'with an invented before', async server =>
    withMessage(await ask(server, { search: 'before=AAAA' }), 'invalid cursor'),
  )
  fails('invalid_cursor', 'when a cursor with filters is used without', async server => {
    const page = await ask(server, { query: { language: 'en', first: 1 } })
    return withMessage(await ask(server, { search: `after=${cursorOf(page)}` }), 'invalid cursor')
  })
  fails('invalid_cursor', 'when the cursor is of GetFollowedStreams', async server => {
    const { id, token } = server.world.viewer
    const page = await server.call({
      path: '/helix/streams/followed',
      token,
      query: { user_id: id, first: 1 },
    })
    return ask(server, { token, search: `after=${cursorOf(page)}` })
  })
})
