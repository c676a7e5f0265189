import { expect } from 'bun:test'
import { getGames } from '../../../src/contract/helix/get-games.ts'
import { randomAlphanumerics } from '../../../src/kit/id.ts'
import { sql } from '../../../src/store/sql/tag.ts'
import { describeOperation, send } from '../../support/operation.ts'
import type { Answer, Ask, TestServer } from '../../support/server.ts'
import { idsOf, withMessage } from './page-rules.ts'
import { newGame, newUser } from './profiles.ts'

const ask = (server: TestServer, changes: Ask = {}) =>
  send(server, getGames, { token: server.world.client.app_token, ...changes })
const valid = ({ world }: TestServer): Ask => ({
  token: world.client.app_token,
  query: { id: world.game.id },
})
const idsIn = (answer: Answer): string[] => idsOf(answer.body.data)
const newName = () => `Game ${randomAlphanumerics(12)}`
const many = (name: string, count: number) =>
  Array.from({ length: count }, (_, n) => `${name}=${n}`).join('&')

describeOperation(getGames, { valid }, ({ ok, fails }) => {
  ok('gives exactly these fields and no pagination, with any token (D-61, D-63)', async server => {
    const game = await newGame(server, { name: newName(), igdb_id: '90210' })
    for (const token of [server.world.client.app_token, server.world.viewer.token]) {
      const answer = await ask(server, { token, query: { id: game.id } })
      expect(answer.text).toBe(
        JSON.stringify({
          data: [
            {
              id: game.id,
              name: game.name,
              box_art_url: `${server.url}/images/games/${game.id}-{width}x{height}.png`,
              igdb_id: '90210',
            },
          ],
        }),
      )
    }
    const bare = await newGame(server, { name: newName() })
    expect((await ask(server, { query: { id: bare.id } })).body.data[0].igdb_id).toBe('')
  })

  ok('ids first, then names, then IGDB ids, in the order of the request, each row once', async server => {
    const igdb = randomAlphanumerics(10)
    const games = []
    for (let n = 0; n < 4; n++) games.push(await newGame(server, { name: newName(), igdb_id: `${igdb}${n}` }))
    const [a, b, c, d] = games.map(game => game.id)
    const search = `igdb_id=${igdb}3&igdb_id=${igdb}0&name=${games[2]?.name}&name=${games[1]?.name}&id=${b}&id=${b}`
    expect(idsIn(await ask(server, { search }))).toEqual([b, c, d, a] as string[])
    expect(idsIn(await ask(server, { query: { id: [d, a, c] as string[] } }))).toEqual([d, a, c] as string[])
  })

  ok('a name matches the whole name exactly, case included (D-74)', async server => {
    const name = `Ölwürm ${randomAlphanumerics(10)}`
    const game = await newGame(server, { name })
    expect(idsIn(await ask(server, { query: { name } }))).toEqual([game.id])
    const others = [
      name.toUpperCase(),
      name.toLowerCase(),
      name.slice(0, -1),
      `${name} `,
      ` ${name}`,
      name.normalize('NFD'),
      `${name}%`,
    ]
    expect((await ask(server, { query: { name: others } })).body).toEqual({ data: [] })
  })

  ok('all games with the name, by id as a number (D-74)', async server => {
    const name = newName()
    const base = 5_000_000_000 + Math.floor(Math.random() * 10 ** 9)
    const ids = [String(base), String(base + 1), `9${base % 10 ** 8}`, `1${base}`]
    for (const id of ids) await newGame(server, { id, name })
    const other = await newGame(server, { name: newName() })
    const byNumber = ids.toSorted((x, y) => Number(x) - Number(y))
    expect(idsIn(await ask(server, { query: { name } }))).toEqual(byNumber)
    expect(idsIn(await ask(server, { query: { name: [other.name, name] } }))).toEqual([other.id, ...byNumber])
  })

  ok('all games with the IGDB id, by id as a number', async server => {
    const igdb_id = randomAlphanumerics(12)
    const one = await newGame(server, { id: '70000000001', name: newName(), igdb_id })
    const two = await newGame(server, { id: '8000000001', name: newName(), igdb_id })
    expect(idsIn(await ask(server, { query: { igdb_id } }))).toEqual([two.id, one.id])
    expect((await ask(server, { query: { igdb_id: [`${igdb_id}0`, '0', 'x'] } })).body).toEqual({ data: [] })
  })

  ok('unknown values and values of another form are absent; empty ones too (D-62)', async server => {
    const game = await newGame(server, { name: newName() })
    const odd = ['999', 'x', `0${game.id}`, `${game.id},1`, '💾', '"', '\\', '{}', 'a'.repeat(500)]
    const answer = await ask(server, { query: { id: [...odd, game.id], name: odd, igdb_id: odd } })
    expect(idsIn(answer)).toEqual([game.id])
    expect(idsIn(await ask(server, { search: `igdb_id=&name=&id=${game.id}` }))).toEqual([game.id])
  })

  ok('first and cursors are ignored (D-63)', async server => {
    const ids: string[] = []
    for (let n = 0; n < 3; n++) ids.push((await newGame(server, { name: newName() })).id)
    const answer = await ask(server, { query: { id: ids, first: 1, after: 'x', before: 'y' } })
    expect(idsIn(answer)).toEqual(ids)
  })

  ok('every game_id in an answer is found here, also after a game is deleted (D-74)', async server => {
    const game = await newGame(server, { name: newName() })
    const user = await newUser(server)
    await server.control('PATCH', `/channels/${user.id}`, { game_id: game.id })
    await server.control('PUT', `/channels/${user.id}/stream`, {})
    const streams = async () =>
      (await server.call({ path: '/helix/streams', query: { user_id: user.id } })).body.data
    expect((await streams())[0].game_id).toBe(game.id)
    expect(idsIn(await ask(server, { query: { id: game.id } }))).toEqual([game.id])
    await server.control('DELETE', `/games/${game.id}`)
    expect((await ask(server, { query: { id: game.id } })).body).toEqual({ data: [] })
    expect((await streams())[0].game_id).toBe('')
    const [channel] = await server.control('GET', `/channels/${user.id}`)
    expect(channel.game_id).toBe('')
    const video = await server.strand.services.store.snapshot(db =>
      Promise.resolve(
        db.get<{ game_id: string | null }>(sql`select game_id from videos where user_id = ${user.id}`),
      ),
    )
    expect(video).toEqual({ game_id: null })
    // And of everything that is live or entitled in the world.
    const live = await server.call({ path: '/helix/streams', query: { first: 100 } })
    const drops = await server.call({
      path: '/helix/entitlements/drops',
      token: server.world.client.app_token,
      query: { first: 100 },
    })
    const used = [...live.body.data, ...drops.body.data].map(row => row.game_id).filter(id => id !== '')
    const distinct: string[] = [...new Set<string>(used)]
    expect(distinct.length).toBeGreaterThan(0)
    expect(idsIn(await ask(server, { query: { id: distinct } }))).toEqual(distinct)
  })

  fails('none_given', 'without id, name and igdb_id', async server =>
    withMessage(await ask(server), 'At least one of "id", "name" and "igdb_id" is required'),
  )
  fails('none_given', 'with only empty values', server => ask(server, { search: 'id=&name=&igdb_id=' }))
  fails('malformed_parameter', 'with more than 100 values over all keys, naming the first', async server =>
    withMessage(
      await ask(server, { search: `igdb_id=1&${many('id', 50)}&${many('name', 50)}` }),
      'The parameter "igdb_id" was malformed: the value must be less than or equal to 100',
    ),
  )
  fails('malformed_parameter', 'when a name contains U+0000', server => ask(server, { search: 'name=a%00b' }))
})
