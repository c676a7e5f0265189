import { expect } from 'bun:test'
import { passwords } from '../../../src/auth/passwords.ts'
import {
  createPasswordReset,
  createUser,
  deleteUser,
  exportUser,
  getUser,
  listUsers,
  putUser,
  suspendUser,
  unsuspendUser,
} from '../../../src/contract/control/users.ts'
import { describeOperation, send } from '../../support/operation.ts'
import { usingCheapPasswords } from '../../support/server/cheap-passwords.ts'
import { startTestServer, type TestServer } from '../../support/server.ts'
import {
  asOperator,
  byNumber,
  expectEmpty,
  exported,
  idsOf,
  isGoodToken,
  naming,
  newUser,
  nowOf,
  shownStream,
  tokenOf,
  walk,
} from './operator.ts'

usingCheapPasswords()

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
let logins = 0
const login = () => `Newcomer_${++logins}`
const at = (id: string) => `/control/users/${id}`

const create = (server: TestServer, body: object) => send(server, createUser, asOperator(server, { body }))
const put = (server: TestServer, id: string, body: object) =>
  send(server, putUser, asOperator(server, { path: at(id), body }))
const get = (server: TestServer, id: string) => send(server, getUser, asOperator(server, { path: at(id) }))
const list = (server: TestServer, query: Record<string, string | number>) =>
  send(server, listUsers, asOperator(server, { query }))
const remove = (server: TestServer, id: string) =>
  send(server, deleteUser, asOperator(server, { path: at(id) }))

/** Two that run and 64 that wait are as many as there can be. */
async function whilePasswordsWait<T>(work: () => Promise<T>): Promise<T> {
  const gate = Promise.withResolvers<void>()
  const busy = Array.from({ length: 66 }, () => passwords.inTurn({ lane: 'operator' }, () => gate.promise))
  try {
    return await work()
  } finally {
    gate.resolve()
    await Promise.all(busy)
  }
}

describeOperation(
  createUser,
  { valid: server => asOperator(server, { body: { login: login() } }) },
  ({ ok, fails }) => {
    ok('takes the time of creation', async server => {
      const answer = await create(server, { login: login(), created_at: '2020-02-29T10:00:00Z' })
      expect(answer.body.data[0].created_at).toBe('2020-02-29T10:00:00.000Z')
    })
    fails('refused_reference', 'when there is no such day', server =>
      create(server, { login: login(), created_at: '2021-02-29T10:00:00Z' }),
    )

    fails('passwords_busy', 'while too many passwords of operators wait', server =>
      whilePasswordsWait(() => create(server, { login: login(), password: 'long enough' })),
    )

    ok('assigns a decimal id; the login is kept in lower case, the display name as written', async server => {
      const { body } = await create(server, { login: 'Lunar_Otter_9' })
      expect(body.data).toEqual([
        {
          id: expect.stringMatching(/^[1-9][0-9]{0,18}$/),
          login: 'lunar_otter_9',
          display_name: 'Lunar_Otter_9',
          description: '',
          links: [],
          broadcaster_type: '',
          email: null,
          created_at: expect.stringMatching(TIME),
          suspended_at: null,
          suspension_reason: '',
        },
      ])
      expect((await get(server, body.data[0].id)).body).toEqual(body)
    })

    ok('ids rise', async server => {
      const ids = []
      for (let count = 0; count < 5; count++) ids.push((await newUser(server)).id)
      expect(ids).toEqual(byNumber(ids))
      expect(new Set(ids).size).toBe(5)
    })

    ok('takes a display name and a password, and never shows the password', async server => {
      const given = { login: login(), display_name: 'Čau 🦦', password: 'correct horse' }
      const { body, text } = await create(server, given)
      expect(body.data[0].display_name).toBe('Čau 🦦')
      expect(text).not.toContain('password')
      expect(text).not.toContain('correct horse')
      expect((await get(server, body.data[0].id)).text).not.toContain('password')
    })

    ok('takes description, broadcaster type and email (D-94)', async server => {
      const given = {
        description: '🦦'.repeat(300),
        broadcaster_type: 'partner',
        email: 'Ž.otter+reef@example.com',
      }
      const { body } = await create(server, { login: login(), ...given })
      expect(body.data[0]).toMatchObject(given)
      expect((await get(server, body.data[0].id)).body).toEqual(body)
      const longest = `${'x'.repeat(64)}@${'y'.repeat(189)}`
      expect((await create(server, { login: login(), email: longest })).body.data[0].email).toBe(longest)
    })

    ok('takes at most five links, each a label and an https URL', async server => {
      const links = [
        'Schedule https://otter.example.com/schedule?week=1#top',
        '日本語 🦦 https://example.com',
      ]
      const { body } = await create(server, { login: login(), links })
      expect(body.data[0].links).toEqual(links)
      expect((await get(server, body.data[0].id)).body).toEqual(body)
      const lines = await exported(server, 'user')
      expect(lines.find(({ id }) => id === body.data[0].id)?.links).toEqual(links)
      expect((await put(server, body.data[0].id, { links: [] })).body.data[0].links).toEqual([])
    })

    ok('an email address may belong to several users (D-94)', async server => {
      const email = 'shared@example.com'
      for (const _ of [1, 2]) expect((await create(server, { login: login(), email })).status).toBe(200)
    })

    ok('the user has a channel and a stream key at once', async server => {
      const user = await newUser(server)
      const [channel] = await server.control('GET', `/channels/${user.id}`)
      expect(channel.user_id).toBe(user.id)
      const key = await server.call({
        path: '/helix/streams/key',
        query: { broadcaster_id: user.id },
        token: await tokenOf(server, user.id),
      })
      expect(key.body.data[0].stream_key).toMatch(new RegExp(`^live_${user.id}_[A-Za-z0-9]{30}$`))
    })

    ok('of several at once with one login, one is created', async server => {
      const name = login()
      const answers = await Promise.all([1, 2, 3, 4].map(() => create(server, { login: name })))
      expect(answers.map(answer => answer.status).sort()).toEqual([200, 409, 409, 409])
    })

    fails('taken', 'when another user has the login', server =>
      naming(server.world.broadcaster.login, create(server, { login: server.world.broadcaster.login })),
    )
    fails('reserved_login', 'when the server uses the path', server => create(server, { login: 'Videos' }))
    fails('taken', 'in other letters', server =>
      create(server, { login: server.world.broadcaster.login.toUpperCase() }),
    )
    for (const [title, body] of [
      ['the login has a space', { login: 'two words' }],
      ['the login has 26 characters', { login: 'x'.repeat(26) }],
      ['the display name is empty', { login: 'fine', display_name: '' }],
      ['the display name has 51 characters', { login: 'fine', display_name: 'x'.repeat(51) }],
      ['the password has 7 characters', { login: 'fine', password: '1234567' }],
      ['the description has 301 characters', { login: 'fine', description: 'x'.repeat(301) }],
      ['the broadcaster type is unknown', { login: 'fine', broadcaster_type: 'star' }],
      ['the email has no @', { login: 'fine', email: 'otter' }],
      ['the email has two @', { login: 'fine', email: 'a@b@c' }],
      ['the email has nothing after @', { login: 'fine', email: 'otter@' }],
      ['the email has nothing before @', { login: 'fine', email: '@example.com' }],
      ['the email has a space', { login: 'fine', email: 'an otter@example.com' }],
      ['the email has a line break', { login: 'fine', email: 'otter@example.com\nBcc: x' }],
      ['the email has 255 characters', { login: 'fine', email: `${'x'.repeat(254)}@` }],
      ['the email is empty', { login: 'fine', email: '' }],
      ['there are six links', { login: 'fine', links: Array(6).fill('Reef https://example.com') }],
      ['a link has no label', { login: 'fine', links: ['https://example.com'] }],
      ['a label has 41 characters', { login: 'fine', links: [`${'x'.repeat(41)} https://example.com`] }],
      ['a link is not https', { login: 'fine', links: ['Reef http://example.com'] }],
      ['a link is a script', { login: 'fine', links: ['Reef javascript:alert(1)'] }],
      ['a link has a name before its host', { login: 'fine', links: ['Reef https://a@b.example'] }],
      ['a label turns the text around', { login: 'fine', links: ['Re\u202eef https://example.com'] }],
    ] as const) {
      fails('malformed_parameter', `when ${title}`, server => create(server, body))
    }
  },
)

describeOperation(
  putUser,
  {
    valid: async server => {
      const user = await newUser(server)
      return asOperator(server, { path: at(user.id), body: { login: user.login } })
    },
  },
  ({ ok, fails }) => {
    fails('refused_reference', 'when there is no such day', async server =>
      put(server, (await newUser(server)).id, { created_at: '2021-04-31T10:00:00Z' }),
    )

    fails('passwords_busy', 'while too many passwords of operators wait', async server => {
      const { id } = await newUser(server)
      return whilePasswordsWait(() => put(server, id, { password: 'long enough' }))
    })

    ok('creates the user with this id, and a repeat changes nothing', async server => {
      const body = { login: login(), display_name: 'Chosen' }
      const first = await put(server, '4711', body)
      expect(first.body.data[0]).toMatchObject({ id: '4711', display_name: 'Chosen' })
      await server.control('POST', '/clock', { advance_seconds: 60 })
      expect((await put(server, '4711', body)).body).toEqual(first.body)
      expect((await get(server, '4711')).body).toEqual(first.body)
      expect((await server.control('GET', '/channels/4711'))[0].language).toBe('en')
    })

    ok('fields left out keep their value', async server => {
      const user = await newUser(server, { display_name: 'Kept' })
      const renamed = await put(server, user.id, { login: 'Renamed_User' })
      expect(renamed.body.data).toEqual([{ ...user, login: 'renamed_user' }])
      const shown = await put(server, user.id, { display_name: 'Shown' })
      expect(shown.body.data).toEqual([{ ...user, login: 'renamed_user', display_name: 'Shown' }])
      expect((await put(server, user.id, {})).body).toEqual(shown.body)
      expect((await put(server, user.id, { password: 'long enough' })).body).toEqual(shown.body)
    })

    ok('a profile changes field by field; an empty text and null clear (D-94)', async server => {
      const profile = { description: 'Slow dives', broadcaster_type: 'affiliate', email: 'a@example.com' }
      const user = await newUser(server, profile)
      for (const change of [
        { description: '' },
        { broadcaster_type: '' },
        { email: null },
        { email: 'b@example.com' },
      ]) {
        const before = (await get(server, user.id)).body.data[0]
        expect((await put(server, user.id, change)).body.data).toEqual([{ ...before, ...change }])
      }
      expect((await put(server, user.id, { description: 'x'.repeat(301) })).status).toBe(400)
      expect((await get(server, user.id)).body.data).toEqual([
        { ...user, description: '', broadcaster_type: '', email: 'b@example.com' },
      ])
    })

    ok('a first password leaves tokens alone, another one ends them', async server => {
      const user = await newUser(server)
      const request = { client_id: server.world.client.id, user_id: user.id, scopes: ['user:read:follows'] }
      const [{ access_token }] = await server.control('POST', '/tokens', request)
      const validate = () => server.call({ path: '/oauth2/validate', token: access_token })
      await put(server, user.id, { password: 'the first password' })
      expect((await validate()).status).toBe(200)
      await put(server, user.id, { password: 'another password' })
      expect((await validate()).status).toBe(401)
    })

    ok('a running stream shows the new names at once', async server => {
      const user = await newUser(server)
      await server.control('PUT', `/channels/${user.id}/stream`, {})
      await put(server, user.id, { login: 'On_Air', display_name: 'On Air!' })
      expect(await shownStream(server, user.id)).toMatchObject({ user_login: 'on_air', user_name: 'On Air!' })
      const byLogin = await server.call({ path: '/helix/streams', query: { user_login: 'ON_AIR' } })
      expect(byLogin.body.data[0].user_id).toBe(user.id)
      const byOldLogin = await server.call({ path: '/helix/streams', query: { user_login: user.login } })
      expect(byOldLogin.body.data).toEqual([])
    })

    ok('a login that was given up can be taken', async server => {
      const [one, other] = [await newUser(server), await newUser(server)]
      await put(server, one.id, { login: login() })
      expect((await put(server, other.id, { login: one.login })).body.data[0].login).toBe(one.login)
    })

    ok('two at once for a new id make one user', async server => {
      const body = { login: login() }
      const answers = await Promise.all([1, 2, 3].map(() => put(server, '4712', body)))
      expect(answers.map(answer => answer.status)).toEqual([200, 200, 200])
    })

    fails('taken', 'when another user has the login', async server => {
      const user = await newUser(server)
      const taken = server.world.broadcaster.login
      const answer = naming(taken, put(server, user.id, { login: taken }))
      await answer
      expect((await get(server, user.id)).body.data).toEqual([user])
      return answer
    })
    fails('reserved_login', 'when the server uses the path of the new login', async server => {
      const user = await newUser(server)
      return put(server, user.id, { login: 'helix' })
    })
    ok('a user whose login became reserved later keeps it', async server => {
      const user = await newUser(server)
      await server.execute(`update users set login = 'studio' where id = '${user.id}'`)
      const { body } = await put(server, user.id, { login: 'studio', description: 'still here' })
      expect(body.data[0]).toMatchObject({ login: 'studio', description: 'still here' })
    })
    fails('taken', 'when another user has the login of a new one', server =>
      put(server, '4713', { login: server.world.broadcaster.login }),
    )
    fails('missing_parameter', 'when the user is new and has no login', server =>
      naming('login', put(server, '4714', { display_name: 'Unknown' })),
    )
    for (const id of ['abc', '007', '-1', '1'.repeat(20)]) {
      fails('malformed_parameter', `when the id is ${id}`, server =>
        naming('user_id', put(server, id, { login: login() })),
      )
    }
  },
)

describeOperation(
  getUser,
  { valid: server => asOperator(server, { path: at(server.world.viewer.id) }) },
  ({ ok, fails }) => {
    ok('shows the user', async server => {
      const { broadcaster } = server.world
      const { body } = await get(server, broadcaster.id)
      expect(Object.keys(body)).toEqual(['data'])
      expect(body.data).toHaveLength(1)
      expect(Object.keys(body.data[0])).toEqual([
        'id',
        'login',
        'display_name',
        'description',
        'links',
        'broadcaster_type',
        'email',
        'created_at',
        'suspended_at',
        'suspension_reason',
      ])
      expect(body.data[0]).toMatchObject({ id: broadcaster.id, login: broadcaster.login })
    })

    for (const id of ['999', 'abc', "'", '%C3%A9']) {
      fails('not_found', `when the id is ${id}`, server => get(server, id))
    }
    fails('not_found', 'when the user was deleted', async server => {
      const user = await newUser(server)
      await remove(server, user.id)
      return naming(user.id, get(server, user.id))
    })
  },
)

describeOperation(listUsers, { valid: server => asOperator(server) }, ({ ok, fails }) => {
  ok('orders ids as numbers', async server => {
    for (const id of ['100', '9', '10']) await put(server, id, { login: login() })
    const { body } = await list(server, { first: 3 })
    expect(idsOf(body.data)).toEqual(['9', '10', '100'])
  })

  ok('pages to the end, every user once, 20 a page without first', async server => {
    const all = idsOf(await walk(server, '/control/users', { first: 100 }))
    expect(all.length).toBeGreaterThan(50)
    expect(all).toEqual(byNumber(all))
    expect(new Set(all).size).toBe(all.length)
    for (const query of [{}, { first: 1 }, { first: 7 }, { first: all.length }]) {
      if ((query.first ?? 0) <= 100) expect(idsOf(await walk(server, '/control/users', query))).toEqual(all)
    }
  })

  ok('the page size may change within a walk', async server => {
    const all = idsOf(await walk(server, '/control/users', { first: 100 }))
    const start = await list(server, { first: 3 })
    const next = await list(server, { first: 5, after: start.body.pagination.cursor })
    expect(idsOf(next.body.data)).toEqual(all.slice(3, 8))
  })

  ok('finds one by login, in any letters', async server => {
    const { broadcaster } = server.world
    for (const name of [broadcaster.login, broadcaster.login.toUpperCase()]) {
      const { body } = await list(server, { login: name })
      expect(idsOf(body.data)).toEqual([broadcaster.id])
      expect(body.pagination).toEqual({})
    }
  })

  ok('an unknown login finds no user; an empty one is no filter', async server => {
    expect((await list(server, { login: 'nobody_at_all' })).body).toEqual({ data: [], pagination: {} })
    expect((await list(server, { login: '' })).body.data).toHaveLength(20)
  })

  for (const first of ['0', '101', '1e1', 'x']) {
    fails('malformed_parameter', `when first is ${first}`, server => list(server, { first }))
  }
  fails('invalid_cursor', 'when the cursor belongs to another list', async server => {
    const games = await server.call(asOperator(server, { path: '/control/games', query: { first: 1 } }))
    return list(server, { after: games.body.pagination.cursor })
  })
})

const exportOf = (server: TestServer, id: string) =>
  send(server, exportUser, asOperator(server, { path: `${at(id)}/export` }))

describeOperation(
  exportUser,
  { valid: async server => asOperator(server, { path: `${at((await newUser(server)).id)}/export` }) },
  ({ ok, fails }) => {
    ok('begins with the person and ends with the summary', async server => {
      const user = await newUser(server)
      const { body } = await exportOf(server, user.id)
      expect(body[0]).toEqual({
        person: { id: user.id, login: user.login, exported_at: expect.stringMatching(TIME) },
      })
      expect(body.at(-1).summary.rows).toMatchObject({ users: 1, channels: 1, stream_keys: 1 })
    })
    ok('pages through many rows', async server => {
      const user = await newUser(server)
      await server.execute(
        `insert into follows (user_id, broadcaster_id, followed_at)
         select '${user.id}', u.id, '2026-03-01T00:00:00Z' from users u where u.id <> '${user.id}'`,
      )
      const followed = (await exportOf(server, user.id)).body
        .filter((line: { table?: string }) => line.table === 'follows')
        .map((line: { row: { broadcaster_id: string } }) => line.row.broadcaster_id)
      const [{ count }] = await server.execute('select count(*) as count from users')
      expect(new Set(followed).size).toBe(Number(count) - 1)
      expect(followed).toHaveLength(Number(count) - 1)
    })
    fails('not_found', 'when there is no such user', server => naming('999', exportOf(server, '999')))
    fails('no_room', 'when the lines cannot be kept', async server => {
      const other = await startTestServer(server.engine, { config: { spoolFolder: '/nowhere/at/all' } })
      try {
        return await exportOf(other, other.world.viewer.id)
      } finally {
        await other.stop()
      }
    })
  },
)

describeOperation(
  deleteUser,
  { valid: async server => asOperator(server, { path: at((await newUser(server)).id) }) },
  ({ ok, fails }) => {
    ok('ends the stream and takes channel and tokens along', async server => {
      const user = await newUser(server)
      const token = await tokenOf(server, user.id)
      await server.control('PUT', `/channels/${user.id}/stream`, {})
      expect(await shownStream(server, user.id)).toBeDefined()
      expect((await remove(server, user.id)).status).toBe(200)
      expect(await shownStream(server, user.id)).toBeUndefined()
      expect(await isGoodToken(server, token)).toBe(false)
      for (const path of [at(user.id), `/control/channels/${user.id}`]) {
        expect((await server.call(asOperator(server, { path }))).status).toBe(404)
      }
    })

    ok('takes videos, follows and editors along', async server => {
      const { viewer } = server.world
      const user = await newUser(server)
      await server.control('PUT', `/channels/${user.id}/stream`, {})
      await server.control('PUT', `/users/${viewer.id}/follows/${user.id}`)
      await server.control('PUT', `/users/${user.id}/follows/${viewer.id}`)
      await server.control('PUT', `/channels/${viewer.id}/editors/${user.id}`)
      expect((await remove(server, user.id)).status).toBe(200)
      await put(server, user.id, { login: user.login })
      for (const path of [
        `/control/users/${viewer.id}/follows/${user.id}`,
        `/control/users/${user.id}/follows/${viewer.id}`,
        `/control/channels/${viewer.id}/editors/${user.id}`,
      ]) {
        expect((await server.call(asOperator(server, { method: 'DELETE', path }))).status).toBe(404)
      }
      const markers = await server.call({
        path: '/helix/streams/markers',
        query: { user_id: user.id },
        token: await tokenOf(server, user.id),
      })
      expect(markers.problem).toBe('no_videos')
    })

    ok("the organizations' entitlements stay", async server => {
      const { game, benefit } = server.world
      const user = await newUser(server)
      const [granted] = await server.control('POST', '/entitlements', {
        grants: [{ user_id: user.id, benefit_id: benefit.id, game_id: game.id }],
      })
      expect((await remove(server, user.id)).status).toBe(200)
      expect(await walk(server, '/control/entitlements', { user_id: user.id })).toEqual([granted])
    })

    ok('clients that the user owned live on without an owner', async server => {
      const user = await newUser(server)
      const [client] = await server.control('POST', '/clients', { name: 'Orphan', owner_user_id: user.id })
      expect((await remove(server, user.id)).status).toBe(200)
      expect((await server.control('GET', `/clients/${client.id}`))[0].owner_user_id).toBeNull()
    })

    ok('the login is free again', async server => {
      const user = await newUser(server)
      await remove(server, user.id)
      expect((await create(server, { login: user.login })).status).toBe(200)
    })

    fails('not_found', 'when the user does not exist', server => naming('999', remove(server, '999')))
    fails('not_found', 'the second time', async server => {
      const user = await newUser(server)
      await remove(server, user.id)
      return remove(server, user.id)
    })
  },
)

const suspensionOf = (id: string) => `${at(id)}/suspension`
const suspend = (server: TestServer, id: string, body: object = {}) =>
  send(server, suspendUser, asOperator(server, { path: suspensionOf(id), body }))
const unsuspend = (server: TestServer, id: string) =>
  send(server, unsuspendUser, asOperator(server, { path: suspensionOf(id) }))

/** The latest rows of the audit log about a user, without what every row has. */
const audited = async (server: TestServer, id: string) =>
  (await server.control('GET', `/audit?subject=user/${id}&first=2`)).map(
    ({ operation, before, after }: Record<string, never>) => ({ operation, before, after }),
  )

describeOperation(
  suspendUser,
  {
    valid: async server =>
      asOperator(server, { path: suspensionOf((await newUser(server)).id), body: { reason: 'spam' } }),
  },
  ({ ok, fails }) => {
    ok('shows since when and why, and the audit log has both', async server => {
      const user = await newUser(server)
      const { body } = await suspend(server, user.id, { reason: 'Sells accounts.' })
      const suspended_at = expect.stringMatching(TIME)
      const changes = { suspended_at, suspension_reason: 'Sells accounts.' }
      expect(body.data).toEqual([{ ...user, ...changes }])
      expect((await get(server, user.id)).body).toEqual(body)
      expect((await list(server, { login: user.login })).body.data).toEqual(body.data)
      expect((await audited(server, user.id))[0]).toMatchObject({
        operation: 'SuspendUser',
        before: { suspended_at: null, suspension_reason: '' },
        after: changes,
      })
    })

    ok('a repeat keeps the time, and changes the reason if one is given', async server => {
      const user = await newUser(server)
      const [first] = (await suspend(server, user.id, { reason: 'spam' })).body.data
      expect((await suspend(server, user.id)).body.data).toEqual([first])
      const [again] = (await suspend(server, user.id, { reason: 'more spam' })).body.data
      expect(again).toEqual({ ...first, suspension_reason: 'more spam' })
    })

    ok('ends the stream, whose video stays', async server => {
      const user = await newUser(server)
      await server.control('PUT', `/channels/${user.id}/stream`, {})
      await suspend(server, user.id)
      expect(await shownStream(server, user.id)).toBeUndefined()
      const [video] = await server.control('GET', `/videos?user_id=${user.id}`)
      expect(video).toMatchObject({ is_live: false, ended_at: expect.any(String) })
    })

    ok('orders that the publisher be disconnected', async server => {
      const user = await newUser(server)
      const { store } = server.strand.services
      const session = { adapter: 'srs', server: 'reef', session: crypto.randomUUID() }
      const ids = { user_id: user.id, stream_id: user.id, video_id: user.id, watch_url: null }
      await store.commands.openSession({ ...session, ...ids, now: Date.now() })
      await suspend(server, user.id)
      expect((await store.mediaServers.session(session))?.dismissed_at).toBeString()
    })

    ok('a user in an import may be suspended: that is exported, and ends the stream', async server => {
      const user = await newUser(server)
      await server.control('PUT', `/channels/${user.id}/stream`, {})
      const suspended_at = '2026-03-01T12:00:00.250Z'
      const line = { type: 'user', id: user.id, login: user.login, suspended_at, suspension_reason: 'spam' }
      const imported = await server.call(
        asOperator(server, {
          method: 'POST',
          path: '/control/import',
          rawBody: `${JSON.stringify(line)}\n`,
          headers: { 'Content-Type': 'application/x-ndjson' },
        }),
      )
      expect(imported.status).toBe(200)
      expect((await get(server, user.id)).body.data[0]).toMatchObject({ suspended_at })
      expect(await shownStream(server, user.id)).toBeUndefined()
      const lines = await exported(server, 'user')
      expect(lines.find(({ id }) => id === user.id)).toMatchObject({
        suspended_at,
        suspension_reason: 'spam',
      })
    })

    fails('not_found', 'when there is no such user', server => naming('999', suspend(server, '999')))
    fails('malformed_parameter', 'when the reason has 301 characters', async server =>
      naming('reason', suspend(server, (await newUser(server)).id, { reason: 'x'.repeat(301) })),
    )
  },
)

describeOperation(
  unsuspendUser,
  {
    valid: async server => {
      const user = await newUser(server)
      await suspend(server, user.id)
      return asOperator(server, { path: suspensionOf(user.id) })
    },
  },
  ({ ok, fails }) => {
    ok('the user is as before, and the audit log has the end', async server => {
      const user = await newUser(server)
      await suspend(server, user.id, { reason: 'spam' })
      expectEmpty(await unsuspend(server, user.id))
      expect((await get(server, user.id)).body.data).toEqual([user])
      expect((await audited(server, user.id))[0]).toMatchObject({
        operation: 'UnsuspendUser',
        after: { suspended_at: null },
      })
      await server.control('PUT', `/channels/${user.id}/stream`, {})
      expect(await shownStream(server, user.id)).toBeDefined()
    })
    fails('not_found', 'when there is no such user', server => naming('999', unsuspend(server, '999')))
    fails('not_suspended', 'when the user is not suspended', async server => {
      const user = await newUser(server)
      return naming(user.login, unsuspend(server, user.id))
    })
  },
)

const reset = (server: TestServer, id: string) =>
  send(server, createPasswordReset, asOperator(server, { path: `${at(id)}/password-reset` }))

describeOperation(
  createPasswordReset,
  { valid: async server => asOperator(server, { path: `${at((await newUser(server)).id)}/password-reset` }) },
  ({ ok, fails }) => {
    ok('is a link for 24 hours, which the audit log mentions without its secret', async server => {
      const user = await newUser(server)
      const { body } = await reset(server, user.id)
      const [{ reset_url, expires_at }] = body.data
      expect(reset_url).toStartWith(`${server.strand.services.publicUrl}/account/new-password?reset=srst_`)
      const day = 24 * 3600_000
      expect(Date.parse(expires_at) - nowOf(server)).toBeWithin(day - 60_000, day + 1)
      expect((await audited(server, user.id))[0]).toMatchObject({
        operation: 'CreatePasswordReset',
        after: { password_reset: 'created', expires_at },
      })
    })
    fails('not_found', 'when there is no such user', server => naming('999', reset(server, '999')))
    fails('user_suspended', 'when the user is suspended', async server => {
      const user = await newUser(server)
      await suspend(server, user.id)
      return naming(user.login, reset(server, user.id))
    })
  },
)
