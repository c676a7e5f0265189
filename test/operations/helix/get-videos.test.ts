import { expect } from 'bun:test'
import fc from 'fast-check'
import { getVideos } from '../../../src/contract/helix/get-videos.ts'
import { describeOperation, expectProblem, send } from '../../support/operation.ts'
import { runs } from '../../support/properties.ts'
import type { Ask, TestServer } from '../../support/server.ts'
import { newClient, tokenOf } from './callers.ts'
import { goLive, goOffline, newChannel } from './channels.ts'
import { cursorOf, idsOf, provePages, type Row, walk, withMessage } from './page-rules.ts'
import { newVideo, storedVideo } from './videos.ts'

const ask = (server: TestServer, query: NonNullable<Ask['query']> = {}, search = '') =>
  send(server, getVideos, { token: server.world.client.app_token, query, search })
const list = async (server: TestServer, query: NonNullable<Ask['query']>): Promise<Row[]> => {
  const answer = await ask(server, query)
  expect([answer.status, answer.text]).toEqual([200, expect.any(String)])
  return answer.body.data
}
const nowOf = ({ strand }: TestServer) => strand.services.clock.now()
const DAY = 24 * 3_600_000
const ONLY_ONE =
  'Must provide only one of the following query params: user ID, game ID, or one or more video IDs.'

const newGame = async (server: TestServer): Promise<string> => {
  const [game] = await server.control('POST', '/games', { name: 'Tidefall' })
  return game.id
}

/** A channel with twelve videos that do not change. */
const channels = new WeakMap<TestServer, Promise<{ id: string; game_id: string }>>()
const twelveVideos = (server: TestServer) => {
  const make = async () => {
    const [{ id }, game_id] = [await newChannel(server), await newGame(server)]
    for (let n = 0; n < 12; n++)
      await newVideo(server, { user_id: id, game_id, started: nowOf(server) - n * 3_600_000 - 7_200_000 })
    return { id, game_id }
  }
  const known = channels.get(server) ?? make()
  channels.set(server, known)
  return known
}

const valid = async (server: TestServer): Promise<Ask> => ({
  token: server.world.client.app_token,
  query: { user_id: (await twelveVideos(server)).id },
})

describeOperation(getVideos, { valid }, ({ ok, fails }) => {
  provePages(
    { ok, fails },
    {
      operation: getVideos,
      ask: valid,
      otherFilters: async server => ({ game_id: (await twelveVideos(server)).game_id }),
      otherCallers: async server => [
        server.world.broadcaster.token,
        await tokenOf(server, { client_id: await newClient(server, null) }),
      ],
    },
  )

  ok('every field of a finished video, by id, to the letter', async server => {
    const { id: user_id, login } = await newChannel(server)
    const game_id = await newGame(server)
    const started = Date.parse('2026-03-01T12:00:00Z')
    const id = await newVideo(server, {
      user_id,
      game_id,
      started,
      seconds: 3 * 3600 + 8 * 60 + 33,
      title: 'First light over the reef',
      language: 'de',
      description: 'Night dive',
      view_count: 1200,
    })
    const answer = await ask(server, { id })
    const { stream_id } = await storedVideo(server, id)
    expect(answer.body).toEqual({
      data: [
        {
          id,
          stream_id,
          user_id,
          user_login: login,
          user_name: login,
          title: 'First light over the reef',
          description: 'Night dive',
          created_at: '2026-03-01T12:00:00Z',
          published_at: '2026-03-01T12:00:00Z',
          url: `${server.url}/videos/${id}`,
          thumbnail_url: `${server.url}/images/videos/${id}-%{width}x%{height}.png`,
          viewable: 'public',
          view_count: 1200,
          language: 'de',
          type: 'archive',
          duration: '3h8m33s',
          muted_segments: null,
        },
      ],
      pagination: {},
    })
    expect(stream_id).toMatch(/^[0-9]+$/)
    expect(answer.text).toContain('"muted_segments":null')
  })

  ok('the video of a running stream is listed, with its duration so far', async server => {
    const { id: user_id } = await newChannel(server)
    const started_at = new Date(nowOf(server) - 100_000).toISOString()
    const stream = await goLive(server, user_id, { started_at })
    const [video, ...rest] = await list(server, { user_id })
    expect(rest).toEqual([])
    expect(video.stream_id).toBe(stream.id)
    expect(video.duration).toMatch(/^1m[45][0-9]s$/)
    await server.control('POST', '/clock', { advance_seconds: 3600 })
    expect((await list(server, { id: video.id }))[0].duration).toMatch(/^1h1m[45][0-9]s$/)
  })

  ok('null is the stream of a video that was imported without one', async server => {
    const { id: user_id } = await newChannel(server)
    const line = { type: 'video', id: '123', user_id, created_at: '2026-02-01T00:00:00Z' }
    await server.call({
      method: 'POST',
      path: '/control/import',
      token: server.world.operator_token,
      rawBody: JSON.stringify({ ...line, ended_at: '2026-02-01T00:03:21Z' }),
    })
    const [video] = await list(server, { id: '123' })
    expect([video.stream_id, video.duration, video.muted_segments]).toEqual([null, '3m21s', null])
  })

  ok('by id: in the order of the request, each once, unknown ones and other forms absent', async server => {
    const { id: user_id } = await newChannel(server)
    const ids: string[] = []
    for (let n = 0; n < 3; n++) ids.push(await newVideo(server, { user_id }))
    const [a = '', b = '', c = ''] = ids
    const asked = ['999', c, 'abc', a, c, `0${b}`, `${a},${b}`, b, ' ', '%27']
    expect(idsOf(await list(server, { id: asked }))).toEqual([c, a, b])
  })

  ok('by id: a hundred come whole, whatever a library sends along', async server => {
    const { id: user_id } = await newChannel(server)
    const ids: string[] = []
    for (let n = 0; n < 100; n++) ids.push(await newVideo(server, { user_id }))
    for (const search of [
      '',
      'first=20&period=all&sort=time&type=all',
      'first=1&period=day&sort=views&type=highlight&language=zz',
    ]) {
      const answer = await ask(server, { id: ids }, search)
      expect(answer.status).toBe(200)
      expect(idsOf(answer.body.data)).toEqual(ids)
      expect(answer.body.pagination).toEqual({})
    }
  })

  ok('by id: the cursor of another list has no effect', async server => {
    const { id: user_id } = await twelveVideos(server)
    const page = await ask(server, { user_id, first: 2 })
    const id = page.body.data[0].id
    for (const name of ['after', 'before']) {
      const answer = await ask(server, { id, [name]: cursorOf(page) })
      expect([answer.status, idsOf(answer.body.data)]).toEqual([200, [id]])
      expect(answer.body.pagination).toEqual({})
    }
  })

  ok('by user and by game: newest first, equal times by id as a number', async server => {
    const [{ id: user_id }, game_id] = [await newChannel(server), await newGame(server)]
    const base = Number(user_id) * 10
    // 9.. is shorter than 10..: as text it would come first.
    const [short, long] = [`9${base}`, `10${base}`]
    const started = nowOf(server) - 7_200_000
    const old = await newVideo(server, { user_id, game_id, started: started - 1000 })
    await newVideo(server, { user_id, game_id, started, id: short })
    await newVideo(server, { user_id, game_id, started, id: long })
    for (const filter of [{ user_id }, { game_id }]) {
      expect(idsOf(await list(server, filter))).toEqual([long, short, old])
      expect(idsOf(await list(server, { ...filter, sort: 'time', period: 'all', type: 'all' }))).toEqual([
        long,
        short,
        old,
      ])
    }
  })

  ok('views and trending: most viewed first, then newest, then id', async server => {
    const { id: user_id } = await newChannel(server)
    const started = nowOf(server) - 7_200_000
    const few = await newVideo(server, { user_id, started, view_count: 1 })
    const old = await newVideo(server, { user_id, started: started - 5000, view_count: 10 })
    const late = await newVideo(server, { user_id, started: started - 2000, view_count: 10 })
    const top = await newVideo(server, { user_id, started: started - 9000, view_count: 100 })
    for (const sort of ['views', 'trending'])
      expect(idsOf(await list(server, { user_id, sort }))).toEqual([top, late, old, few])
  })

  ok('period: the last 24 hours, 7 and 30 days, in either order', async server => {
    const { id: user_id } = await newChannel(server)
    const ages = [1, 6.9, 7.1, 29.9, 30.1].map(days => days * DAY - DAY / 20)
    const ids: string[] = []
    for (const [n, age] of ages.entries())
      ids.push(await newVideo(server, { user_id, started: nowOf(server) - age, view_count: n }))
    for (const [period, count] of [
      ['day', 1],
      ['week', 2],
      ['month', 4],
      ['all', 5],
    ] as const) {
      expect(idsOf(await list(server, { user_id, period }))).toEqual(ids.slice(0, count))
      const byViews = await list(server, { user_id, period, sort: 'views' })
      expect(idsOf(byViews)).toEqual(ids.slice(0, count).reverse())
    }
  })

  ok('period: a walk stays within the period that it began with', async server => {
    const { id: user_id } = await newChannel(server)
    const ids: string[] = []
    for (const hours of [1, 20, 23, 25])
      ids.push(await newVideo(server, { user_id, started: nowOf(server) - hours * 3_600_000 }))
    for (const sort of ['time', 'views']) {
      const page = await ask(server, { user_id, period: 'day', sort, first: 1 })
      await server.control('POST', '/clock', { advance_seconds: 2 * 3600 })
      const next = await ask(server, { user_id, period: 'day', sort, first: 5, after: cursorOf(page) })
      expect(idsOf([...page.body.data, ...next.body.data])).toEqual(ids.slice(0, sort === 'time' ? 3 : 2))
      expect(next.body.pagination).toEqual({})
    }
  })

  ok('language: in any case, for a user and for a game; Accept-Language has no effect', async server => {
    const [{ id: user_id }, game_id] = [await newChannel(server), await newGame(server)]
    const de = await newVideo(server, { user_id, game_id, language: 'de', started: nowOf(server) - 9000 })
    const en = await newVideo(server, { user_id, language: 'en', started: nowOf(server) - 5000 })
    for (const filter of [{ user_id }, { game_id }]) {
      for (const language of ['de', 'DE', 'De'])
        expect(idsOf(await list(server, { ...filter, language }))).toEqual([de])
      expect(await list(server, { ...filter, language: 'zz' })).toEqual([])
      expect(await list(server, { ...filter, language: 'deutsch, bitte' })).toEqual([])
      const answer = await send(server, getVideos, {
        token: server.world.client.app_token,
        query: filter,
        headers: { 'Accept-Language': 'de' },
      })
      expect(idsOf(answer.body.data)).toEqual([en, de])
    }
  })

  ok('type: archives are all there is', async server => {
    const { id: user_id, game_id } = await twelveVideos(server)
    const all = idsOf(await list(server, { user_id }))
    expect(idsOf(await list(server, { user_id, type: 'archive' }))).toEqual(all)
    for (const filter of [{ user_id }, { game_id }])
      for (const type of ['highlight', 'upload'])
        expect((await ask(server, { ...filter, type })).body).toEqual({ data: [], pagination: {} })
  })

  ok('an unknown user has no videos, whatever the form of the id', async server => {
    for (const user_id of ['999', 'abc', 'O\u2019Neil', '00', '-1', '1'.repeat(300)])
      expect((await ask(server, { user_id })).body).toEqual({ data: [], pagination: {} })
  })

  ok('with a user token, without any scope, and under /mock', async server => {
    const { id: user_id } = await twelveVideos(server)
    const { client, viewer } = server.world
    const token = await tokenOf(server, { client_id: client.id, user_id: viewer.id, scopes: [] })
    const answer = await send(server, getVideos, { token, query: { user_id }, path: '/mock/videos' })
    expect([answer.status, answer.body.data.length]).toEqual([200, 12])
  })

  ok('before ends in front of a page, in either order and with a language', async server => {
    const { id: user_id } = await twelveVideos(server)
    for (const more of [{}, { sort: 'views' }, { language: 'en' }, { period: 'week' }]) {
      const whole = idsOf(await list(server, { user_id, ...more }))
      const first = await ask(server, { user_id, ...more, first: 6 })
      const second = await ask(server, { user_id, ...more, first: 3, after: cursorOf(first) })
      expect(idsOf(second.body.data)).toEqual(whole.slice(6, 9))
      const back = await ask(server, { user_id, ...more, first: 4, before: cursorOf(second) })
      expect(idsOf(back.body.data)).toEqual(whole.slice(2, 6))
      const start = await ask(server, { user_id, ...more, before: cursorOf(back) })
      expect(idsOf(start.body.data)).toEqual(whole.slice(0, 2))
      expect(start.body.pagination).toEqual({})
    }
  })

  ok('a walk by time shows every video that stays exactly once, while others come and go', async server => {
    const { id: user_id } = await newChannel(server)
    const start = nowOf(server) - 20 * 3_600_000
    const kept: string[] = []
    const gone: string[] = []
    for (let n = 0; n < 20; n++) {
      const id = await newVideo(server, { user_id, started: start + n * 60_000 })
      ;(n % 4 === 0 ? gone : kept).push(id)
    }
    const { store } = server.strand.services
    const rows = await walk(
      server,
      getVideos,
      { token: server.world.client.app_token, query: { user_id } },
      () => 3,
      async page => {
        await newVideo(server, { user_id, started: start + page * 90_000 + 1 })
        const id = gone.pop()
        if (id !== undefined) await store.commands.deleteVideo({ id })
        for (const each of kept) await store.commands.changeVideo({ id: each, view_count: page })
      },
    )
    const seen = idsOf(rows)
    expect(new Set(seen).size).toBe(seen.length)
    expect(seen.filter(id => kept.includes(id))).toEqual(kept.toReversed())
  })

  ok(
    'a walk by views shows every video whose count stays exactly once, while others change',
    async server => {
      const { id: user_id } = await newChannel(server)
      const steady: string[] = []
      const moving: string[] = []
      for (let n = 0; n < 24; n++) {
        const id = await newVideo(server, { user_id, view_count: n * 10 })
        ;(n % 3 === 0 ? moving : steady).push(id)
      }
      const { store } = server.strand.services
      const rows = await walk(
        server,
        getVideos,
        { token: server.world.client.app_token, query: { user_id, sort: 'views' } },
        () => 2,
        async page => {
          for (const [n, id] of moving.entries())
            await store.commands.changeVideo({ id, view_count: ((page * 97 + n * 31) % 30) * 10 })
        },
      )
      expect(idsOf(rows).filter(id => steady.includes(id))).toEqual(steady.toReversed())
    },
  )

  ok('title, language and game follow the channel while it is live, and stay when it ends', async server => {
    const { id: user_id } = await newChannel(server)
    const [one, two, three] = [await newGame(server), await newGame(server), await newGame(server)]
    const edit = (title: string, language: string, game_id: string) =>
      server.control('PATCH', `/channels/${user_id}`, { title, language, game_id })
    const shown = async () => {
      const [{ id, title, language }] = await list(server, { user_id })
      return { id, title, language }
    }
    await edit('Before', 'en', one)
    await goLive(server, user_id)
    const { id } = await shown()
    expect(await shown()).toEqual({ id, title: 'Before', language: 'en' })
    await edit('During', 'de', two)
    expect(await shown()).toEqual({ id, title: 'During', language: 'de' })
    expect(idsOf(await list(server, { game_id: two }))).toEqual([id])
    expect(await list(server, { game_id: one })).toEqual([])
    await goOffline(server, user_id)
    await edit('After', 'fr', three)
    expect(await shown()).toEqual({ id, title: 'During', language: 'de' })
    expect(idsOf(await list(server, { game_id: two }))).toEqual([id])
    expect(await list(server, { game_id: three })).toEqual([])
    await server.control('DELETE', `/games/${two}`)
    expect((await storedVideo(server, id)).game_id).toBe('')
    expect((await ask(server, { game_id: two })).status).toBe(404)
  })

  ok('a deleted game leaves the video of a running stream without one', async server => {
    const { id: user_id } = await newChannel(server)
    const game_id = await newGame(server)
    const id = await newVideo(server, { user_id, game_id, isLive: true })
    await server.control('DELETE', `/games/${game_id}`)
    await goOffline(server, user_id)
    expect((await storedVideo(server, id)).game_id).toBe('')
    expect(idsOf(await list(server, { user_id }))).toEqual([id])
  })

  ok('property: any filter, order, page size and direction gives what a model gives', async server => {
    const users = [await newChannel(server), await newChannel(server)].map(user => user.id)
    const games = [await newGame(server), await newGame(server)]
    const shape = fc.record({
      user_id: fc.constantFrom(...users),
      game_id: fc.constantFrom(...games, ''),
      language: fc.constantFrom('en', 'de', 'fr'),
      view_count: fc.nat(3),
      age: fc.constantFrom(0.3, 0.5, 3, 5, 20, 25, 40),
      digits: fc.integer({ min: 10, max: 14 }),
    })
    const [shapes = []] = fc.sample(fc.array(shape, { minLength: 45, maxLength: 45 }), {
      seed: 15,
      numRuns: 1,
    })
    const base = nowOf(server)
    const model: Row[] = []
    for (const [n, { age, digits, ...video }] of shapes.entries()) {
      const id = `8${users[0]}${String(n).padStart(3, '0')}`.padEnd(digits, '0').slice(0, 19)
      const started = base - age * DAY
      await newVideo(server, { ...video, id, started })
      model.push({ ...video, id, created_at: `${new Date(started).toISOString().slice(0, 19)}Z` })
    }
    const filter = fc.record(
      {
        owner: fc.constantFrom(
          ...users.map(user_id => ({ user_id })),
          ...games.map(game_id => ({ game_id })),
        ),
        language: fc.constantFrom('en', 'DE', 'zz'),
        period: fc.constantFrom('all', 'day', 'week', 'month'),
        sort: fc.constantFrom('time', 'views', 'trending'),
        type: fc.constantFrom('all', 'archive'),
      },
      { requiredKeys: ['owner'] },
    )
    await fc.assert(
      fc.asyncProperty(filter, fc.integer({ min: 1, max: 12 }), async ({ owner, ...more }, first) => {
        const expected = expectedOf(model, { ...owner, ...more }, base)
        const query = { ...owner, ...more }
        const token = server.world.client.app_token
        const whole = idsOf(await walk(server, getVideos, { token, query }, () => first))
        expect(whole).toEqual(expected)
        if (expected.length < 3) return
        // From the last row but one back to the start.
        const head = await ask(server, { ...query, first: expected.length - 2 })
        let page = await ask(server, { ...query, first: 1, after: cursorOf(head) })
        const back: string[] = []
        for (let before = cursorOf(page); before !== undefined; before = cursorOf(page)) {
          page = await ask(server, { ...query, first, before })
          back.unshift(...idsOf(page.body.data))
        }
        expect(back).toEqual(expected.slice(0, -2))
      }),
      { numRuns: runs(60) },
    )
  })

  fails('not_one_video_filter', 'without any of the three', async server =>
    withMessage(await ask(server, { period: 'day' }), ONLY_ONE),
  )
  fails('not_one_video_filter', 'with two or three of them', async server => {
    const { id: user_id, game_id } = await twelveVideos(server)
    for (const query of [
      { id: '1', user_id },
      { id: '1', game_id },
      { id: '1', user_id, game_id },
    ])
      expectProblem(getVideos, withMessage(await ask(server, query), ONLY_ONE), 'not_one_video_filter')
    return ask(server, { user_id, game_id })
  })
  fails('not_one_video_filter', 'when the only one is empty', server => ask(server, {}, 'id=&id='))
  fails('malformed_parameter', 'with 101 ids', async server =>
    withMessage(
      await ask(server, { id: Array.from({ length: 101 }, (_, n) => String(n)) }),
      'The parameter "id" was malformed: the value must be less than or equal to 100',
    ),
  )
  for (const [name, values] of [
    ['period', '"all", "day", "week", "month"'],
    ['sort', '"time", "trending", "views"'],
    ['type', '"all", "archive", "highlight", "upload"'],
  ] as const) {
    fails('malformed_parameter', `when ${name} is another word, with id too`, async server => {
      const message = `The parameter "${name}" was malformed: value must be one of ${values}`
      const byId = await ask(server, { id: '1', [name]: 'Nonsense' })
      expectProblem(getVideos, withMessage(byId, message), 'malformed_parameter')
      return withMessage(await ask(server, { user_id: '1', [name]: 'ALL' }), message)
    })
  }
  fails('malformed_parameter', 'when first is out of bounds, with id too', async server => {
    for (const first of ['0', '101', 'x'])
      expectProblem(getVideos, await ask(server, { id: '1', first }), 'malformed_parameter')
    return ask(server, { id: '1', first: '05' })
  })
  fails('invalid_cursor', 'when a cursor is malformed, with id too', async server => {
    const page = await ask(server, { user_id: (await twelveVideos(server)).id, first: 1 })
    const cursor = cursorOf(page) ?? ''
    for (const after of ['AAAA', 'x', '%', `${cursor}=`, `${cursor} `, `B${cursor.slice(1)}`])
      expectProblem(getVideos, await ask(server, { id: '1', after }), 'invalid_cursor')
    return ask(server, { id: '1', before: '!' })
  })
  fails('both_cursors', 'with id too', server => ask(server, { id: '1', after: 'a', before: 'b' }))
  fails('invalid_cursor', 'when any filter changes within a walk', async server => {
    const { id: user_id } = await twelveVideos(server)
    const after = cursorOf(await ask(server, { user_id, first: 2 }))
    for (const more of [{ sort: 'views' }, { period: 'week' }, { language: 'en' }, { type: 'archive' }])
      expectProblem(getVideos, await ask(server, { user_id, after, ...more }), 'invalid_cursor')
    return ask(server, { user_id: server.world.broadcaster.id, after })
  })
  fails('video_not_found', 'when no id is known; the message names the first', async server =>
    withMessage(await ask(server, { id: ['998', '999'] }), 'There is no video with the id "998"'),
  )
  fails('video_not_found', 'when the id has another form', server => ask(server, { id: 'abc' }))
  fails('not_found', 'when the game is unknown, whatever the type', async server => {
    expectProblem(getVideos, await ask(server, { game_id: '999', type: 'upload' }), 'not_found')
    return withMessage(await ask(server, { game_id: '999' }), 'There is no game with the id "999".')
  })
})

/** What a list contains, computed in the plainest way. */
function expectedOf(
  model: readonly Row[],
  query: Readonly<Record<string, string | undefined>>,
  now: number,
): string[] {
  const { user_id, game_id, language, period = 'all', sort = 'time' } = query
  const days = { all: 1000, day: 1, week: 7, month: 30 }[period] ?? 0
  const oldest = new Date(now - days * DAY).toISOString()
  const byTime = (a: Row, b: Row) =>
    a.created_at === b.created_at
      ? BigInt(a.id) < BigInt(b.id)
        ? 1
        : -1
      : a.created_at < b.created_at
        ? 1
        : -1
  return model
    .filter(
      video =>
        (user_id === undefined || video.user_id === user_id) &&
        (game_id === undefined || video.game_id === game_id) &&
        (language === undefined || video.language === language.toLowerCase()) &&
        video.created_at >= oldest,
    )
    .toSorted((a, b) => (sort === 'time' ? 0 : b.view_count - a.view_count) || byTime(a, b))
    .map(video => video.id)
}
