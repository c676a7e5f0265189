import { expect } from 'bun:test'
import { getStreams } from '../../../src/contract/helix/get-streams.ts'
import { getTopGames } from '../../../src/contract/helix/get-top-games.ts'
import { describeOperation, send } from '../../support/operation.ts'
import type { Ask, TestServer } from '../../support/server.ts'
import { goLive, goOffline, newChannel } from './channels.ts'
import { cursorOf, idsOf, provePages, type Row, walk, withMessage } from './page-rules.ts'

const STREAMS = 60

const valid = ({ world }: TestServer): Ask => ({ token: world.client.app_token })
const ask = (server: TestServer, changes: Ask = {}) =>
  send(server, getTopGames, { ...valid(server), ...changes })
const everything = (server: TestServer) => walk(server, getTopGames, valid(server), () => 100)

/** The games by total viewers, added up from the streams. */
async function expectedIds(server: TestServer): Promise<string[]> {
  const totals = new Map<string, number>()
  for (const { game_id, viewer_count } of await walk(server, getStreams, {}, () => 100))
    if (game_id !== '') totals.set(game_id, (totals.get(game_id) ?? 0) + viewer_count)
  return [...totals]
    .sort(([a, mine], [b, other]) => other - mine || (BigInt(b) > BigInt(a) ? 1 : -1))
    .map(([id]) => id)
}

/** Rankings may be a second old (D-34): asks until the condition holds. */
async function eventually(condition: () => Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + 3000; !(await condition()); )
    if (Date.now() > deadline) throw new Error('the games do not catch up')
}

let made = 0

/** A game with a live channel that plays it. */
async function playedGame(server: TestServer, viewer_count: number, name = `Made for proof ${++made}`) {
  const [game] = await server.control('POST', '/games', { name })
  const channel = await newChannel(server)
  await server.control('PATCH', `/channels/${channel.id}`, { game_id: game.id })
  await goLive(server, channel.id, { viewer_count })
  return { id: game.id as string, user_id: channel.id }
}

async function listedAt(server: TestServer, id: string): Promise<number> {
  return idsOf(await everything(server)).indexOf(id)
}

describeOperation(getTopGames, { valid, server: { streams: STREAMS } }, proofs => {
  const { ok, fails } = proofs

  provePages(proofs, {
    operation: getTopGames,
    ask: valid,
    otherCallers: ({ world }) => [world.other_client.app_token, world.viewer.token],
  })

  ok('lists what was started before the process was too busy to read the feed', async server => {
    const game = await playedGame(server, 100)
    await server.settle()
    Bun.sleepSync(600)
    expect(await listedAt(server, game.id)).toBeGreaterThanOrEqual(0)
  })

  ok('lists the four fields of a game, none of them null', async server => {
    const rows = await everything(server)
    expect(rows.length).toBeGreaterThan(8)
    for (const row of rows) {
      expect(Object.keys(row)).toEqual(['id', 'name', 'box_art_url', 'igdb_id'])
      expect(row.id).toMatch(/^[1-9][0-9]*$/)
      expect(row.name.length).toBeGreaterThan(0)
      expect(row.box_art_url).toBe(`${server.url}/images/games/${row.id}-{width}x{height}.png`)
      expect(typeof row.igdb_id).toBe('string')
    }
  })

  ok('any token will do: of an app, of a user, without scopes; and the path of the mock', async server => {
    const { client, viewer } = server.world
    const [{ access_token }] = await server.control('POST', '/tokens', {
      client_id: client.id,
      user_id: viewer.id,
      scopes: [],
    })
    const { data } = (await ask(server)).body
    for (const token of [viewer.token, access_token])
      expect((await ask(server, { token })).body.data).toEqual(data)
    expect((await ask(server, { path: '/mock/games/top' })).body.data).toEqual(data)
  })

  ok('by the viewers of all live streams of a game, then the larger id; 20 without first', async server => {
    const games: { id: string; user_id: string }[] = []
    for (let n = 0; n < 24; n++) games.push(await playedGame(server, 700 + 100 * (n % 5)))
    await eventually(async () => {
      const ids = idsOf(await everything(server))
      return Bun.deepEquals(ids, await expectedIds(server)) && games.every(game => ids.includes(game.id))
    })
    const ids = await expectedIds(server)
    expect(idsOf((await ask(server)).body.data)).toEqual(ids.slice(0, 20))
    expect(idsOf(await walk(server, getTopGames, valid(server), () => 3))).toEqual(ids)
    for (const game of games) await goOffline(server, game.user_id)
  })

  ok(
    'a stream without a game does not count, and a game is listed while it has a live stream',
    async server => {
      const game = await playedGame(server, 5)
      await eventually(async () => (await listedAt(server, game.id)) >= 0)
      await server.control('PATCH', `/channels/${game.user_id}`, { game_id: '' })
      await eventually(async () => (await listedAt(server, game.id)) < 0)
      expect((await everything(server)).every(row => row.id !== '')).toBe(true)
      await server.control('PATCH', `/channels/${game.user_id}`, { game_id: game.id })
      await eventually(async () => (await listedAt(server, game.id)) >= 0)
      await goOffline(server, game.user_id)
      await eventually(async () => (await listedAt(server, game.id)) < 0)
      await server.control('DELETE', `/games/${game.id}`)
      expect(await listedAt(server, game.id)).toBe(-1)
    },
  )

  ok('a game without viewers is listed, last', async server => {
    const game = await playedGame(server, 0)
    await eventually(async () => idsOf(await everything(server)).at(-1) === game.id)
    await goOffline(server, game.user_id)
  })

  ok(
    'a new name or id at IGDB is shown within a second, also on pages that were asked for before',
    async server => {
      const { store } = server.strand.services
      const game = await playedGame(server, 1_999_999_999)
      const top = async (): Promise<Row> => (await ask(server, { search: 'first=1' })).body.data[0]
      await eventually(async () => (await top()).id === game.id)
      await store.commands.putGame({ id: game.id, igdb_id: '90210' })
      await server.settle()
      await eventually(async () => (await top()).igdb_id === '90210')
      await store.commands.putGame({ id: game.id, name: 'Renamed for proof' })
      await server.settle()
      await eventually(async () => (await top()).name === 'Renamed for proof')
      expect(await top()).toEqual({
        id: game.id,
        name: 'Renamed for proof',
        box_art_url: `${server.url}/images/games/${game.id}-{width}x{height}.png`,
        igdb_id: '90210',
      })
      await goOffline(server, game.user_id)
    },
  )

  ok('pages go back with before as they went forward with after', async server => {
    await eventually(async () => Bun.deepEquals(idsOf(await everything(server)), await expectedIds(server)))
    const all = idsOf(await everything(server))
    const first = await ask(server, { search: 'first=3' })
    const second = await ask(server, { search: `first=4&after=${cursorOf(first)}` })
    expect(idsOf(second.body.data)).toEqual(all.slice(3, 7))
    const back = await ask(server, { search: `first=2&before=${cursorOf(second)}` })
    expect(idsOf(back.body.data)).toEqual(all.slice(1, 3))
    const start = await ask(server, { search: `first=100&before=${cursorOf(back)}` })
    expect(start.body.pagination).toEqual({})
    expect(idsOf(start.body.data)).toEqual(all.slice(0, 1))
  })

  for (const first of [1, 2, 5]) {
    ok(
      `pages of ${first} show every game that stays live exactly once, while all totals change`,
      async server => {
        const steady = await Promise.all([3, 40, 900, 20, 77].map(viewers => playedGame(server, viewers)))
        const leaving = await Promise.all([7, 800, 31].map(viewers => playedGame(server, viewers)))
        const second = await newChannel(server)
        await eventually(async () => {
          const ids = idsOf(await everything(server))
          return [...steady, ...leaving].every(game => ids.includes(game.id))
        })
        const users = [...steady, ...leaving].map(game => game.user_id)
        const rows = await walk(
          server,
          getTopGames,
          valid(server),
          () => first,
          async page => {
            const counts = Object.fromEntries(
              users.map((id, n) => [id, ((page + 1) * 7919 * (n + 1)) % 2011]),
            )
            await server.control('POST', '/viewers', { counts })
            // A second stream of a game comes and goes: the totals of the walk stay those of its first page.
            if (page === 0) {
              await server.control('PATCH', `/channels/${second.id}`, { game_id: steady[0]?.id })
              await goLive(server, second.id, { viewer_count: 1_999_999 })
            } else if (page === 2) await goOffline(server, second.id)
            const gone = page % 2 === 1 ? leaving[(page - 1) / 2] : undefined
            if (gone !== undefined) await goOffline(server, gone.user_id)
          },
        )
        const ids = idsOf(rows)
        expect(new Set(ids).size).toBe(ids.length)
        expect(steady.filter(game => !ids.includes(game.id))).toEqual([])
        for (const id of [...users, second.id]) {
          await server.call({
            method: 'DELETE',
            path: `/control/channels/${id}/stream`,
            token: server.world.operator_token,
          })
        }
      },
    )
  }

  fails('both_cursors', 'with after and before that are both good', async server => {
    const cursor = cursorOf(await ask(server, { search: 'first=1' }))
    return ask(server, { search: `after=${cursor}&before=${cursor}` })
  })
  fails('invalid_cursor', 'with an invented before', async server =>
    withMessage(await ask(server, { search: 'before=AAAA' }), 'invalid cursor'),
  )
  fails('invalid_cursor', 'when the cursor is of GetStreams', async server => {
    const page = await send(server, getStreams, { ...valid(server), search: 'first=1' })
    return ask(server, { search: `after=${cursorOf(page)}` })
  })
})
