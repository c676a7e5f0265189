import { expect, test } from 'bun:test'
import { listAudit } from '../../../src/contract/control/audit.ts'
import { operations } from '../../../src/contract/index.ts'
import { familyOf } from '../../../src/contract/operation.ts'
import { describeOperation, send } from '../../support/operation.ts'
import { usingCheapPasswords } from '../../support/server/cheap-passwords.ts'
import { onEachStore } from '../../support/server/each-store.ts'
import type { Ask, TestServer } from '../../support/server.ts'
import { newCampaign, publishedCampaign } from '../drops/campaigns.ts'
import { subscribe } from '../helix/subscriptions.ts'
import { asOperator, naming, newOrganization, newUser, nowOf, UNKNOWN_UUID, walk } from './operator.ts'

usingCheapPasswords()

const PATH = '/control/audit'

// biome-ignore lint/suspicious/noExplicitAny: a row is whatever the server sent; tests look into it freely
type Row = any

const list = (server: TestServer, query: Ask['query'] = {}) =>
  send(server, listAudit, asOperator(server, { query }))

/** What was recorded of one thing, newest first. */
const recordedOf = (server: TestServer, subject: string): Promise<Row[]> => walk(server, PATH, { subject })

const moment = (server: TestServer) => new Date(nowOf(server)).toISOString()

describeOperation(listAudit, { valid: server => asOperator(server) }, ({ ok, fails }) => {
  ok('shows who changed what, how it was and how it is', async server => {
    const since = moment(server)
    const [game] = await server.control('POST', '/games', { name: 'Tidefal' })
    await server.control('PUT', `/games/${game.id}`, { name: 'Tidefall' })
    await server.control('DELETE', `/games/${game.id}`)
    const rows = await recordedOf(server, `game/${game.id}`)
    const renamed = { ...game, name: 'Tidefall' }
    const shared = { chain: 'operator', actor: 'operator', subject: `game/${game.id}` }
    const made = {
      at: expect.any(String),
      seq: expect.any(Number),
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    }
    expect(rows).toEqual([
      { ...shared, ...made, operation: 'DeleteGame', before: renamed, after: null },
      { ...shared, ...made, operation: 'PutGame', before: game, after: renamed },
      { ...shared, ...made, operation: 'CreateGame', before: null, after: game },
    ])
    for (const row of rows) expect(row.at >= since).toBe(true)
    expect(new Set(rows.map(row => row.seq)).size).toBe(3)
  })

  ok('a call that changes nothing or fails leaves nothing', async server => {
    const [game] = await server.control('POST', '/games', { name: 'Once' })
    await server.control('PUT', `/games/${game.id}`, { name: 'Once' })
    const { viewer, broadcaster } = server.world
    await server.control('PUT', `/users/${viewer.id}/follows/${broadcaster.id}`)
    const before = await walk(server, PATH, { first: 100 })
    expect(await recordedOf(server, `game/${game.id}`)).toHaveLength(1)
    await server.control('PUT', `/games/${game.id}`, {})
    await server.control('PUT', `/users/${viewer.id}/follows/${broadcaster.id}`)
    const refused = await server.call(
      asOperator(server, { method: 'DELETE', path: `/control/users/${'9'.repeat(9)}` }),
    )
    expect(refused.status).toBe(404)
    const unknown = { name: 'Lost', organization_id: UNKNOWN_UUID }
    const lost = await server.call(
      asOperator(server, { method: 'POST', path: '/control/games', body: unknown }),
    )
    expect(lost.status).toBe(400)
    expect(await walk(server, PATH, { first: 100 })).toEqual(before)
  })

  ok('lists newest first and pages to the end, every row once', async server => {
    for (let count = 0; count < 25; count++) await newOrganization(server)
    const all = await walk(server, PATH, { first: 100 })
    expect(all.length).toBeGreaterThan(25)
    const places = all.map(row => `${row.chain} ${row.seq}`)
    expect(new Set(places).size).toBe(all.length)
    const times = all.map(row => row.at)
    expect(times).toEqual(times.toSorted().reverse())
    for (const first of [undefined, 7]) expect(await walk(server, PATH, { first })).toEqual(all)
  })

  ok('every filter holds, alone and together', async server => {
    const [{ token }] = await server.control('POST', '/operators', { name: 'filters' })
    await newUser(server)
    const body = { name: 'By the other' }
    await server.call({ method: 'POST', path: '/control/organizations', body, token })
    await server.control('POST', '/clock', { advance_seconds: 10 })
    const since = moment(server)
    const user = await newUser(server)
    await server.call({ method: 'POST', path: '/control/organizations', body, token })
    const all = await walk(server, PATH, { first: 100 })
    const actor = 'operator/filters'
    const operation = 'CreateOrganization'
    const subject = `user/${user.id}`
    const cases: [Ask['query'], (row: Row) => boolean][] = [
      [{ actor }, row => row.actor === actor],
      [{ operation }, row => row.operation === operation],
      [{ subject }, row => row.subject === subject],
      [{ since }, row => row.at >= since],
      [{ until: since }, row => row.at < since],
      [{ actor, operation, since }, row => row.actor === actor && row.at >= since],
      [{ subject, operation: 'CreateUser', actor: 'operator' }, row => row.subject === subject],
    ]
    for (const [query, holds] of cases) {
      const expected = all.filter(holds)
      expect(expected.length).toBeGreaterThan(0)
      expect(await walk(server, PATH, { ...query, first: 1 })).toEqual(expected)
    }
  })

  ok('a filter that names nothing matches nothing', async server => {
    for (const query of [
      { actor: 'unknown' },
      { operation: 'Nothing' },
      { subject: 'entitlement/abc' },
      { since: '2999-01-01T00:00:00Z' },
    ]) {
      expect((await list(server, query)).body).toEqual({ data: [], pagination: {} })
    }
  })

  fails('refused_reference', 'when the calendar has no such day', server =>
    naming('2026-02-30T00:00:00Z', list(server, { since: '2026-02-30T00:00:00Z' })),
  )
  fails('malformed_parameter', 'when since is not a time', server =>
    naming('since', list(server, { since: 'yesterday' })),
  )
  fails('malformed_parameter', 'when until is not a time', server =>
    naming('until', list(server, { until: '2026-01-01' })),
  )
  fails('invalid_cursor', 'when the filter changes within a walk', async server => {
    await newOrganization(server)
    await newOrganization(server)
    const start = await list(server, { first: 1 })
    return list(server, { after: start.body.pagination.cursor, actor: 'operator' })
  })
})

/**
 * The demo's clock, viewers and faults change nothing that lasts: they live in the memory of the process and are gone with it. And
 * its fresh start takes the log along.
 */
const NOT_RECORDED = [
  'AdvanceClock',
  'StartWatching',
  'StopWatching',
  'PlanFault',
  'ClearFaults',
  'ClearRequests',
  'SaveSnapshot',
  'ResetWorld',
]

interface Change {
  readonly path: string
  readonly body?: unknown
  readonly subject: string | RegExp
  /** Whether something was there, and is there. */
  readonly existed: boolean
  readonly exists: boolean
}

type Call = (server: TestServer) => Promise<Change>

const created = { existed: false, exists: true }
const changed = { existed: true, exists: true }
const deleted = { existed: true, exists: false }

const newGame = async (server: TestServer) =>
  (
    await server.control('POST', '/games', { name: 'Audited', organization_id: server.world.organization.id })
  )[0]
const newSubscription = async (server: TestServer): Promise<string> => {
  const { id } = await newUser(server)
  const { body } = await subscribe(server, { condition: { broadcaster_user_id: id } })
  return body.data[0].id
}
const newBenefit = async (server: TestServer) =>
  (
    await server.control('POST', '/benefits', {
      name: 'Audited',
      organization_id: server.world.organization.id,
    })
  )[0]
const newClient = async (server: TestServer) =>
  (await server.control('POST', '/clients', { name: 'Audited' }))[0]
const live = async (server: TestServer) => {
  const { id } = await newUser(server)
  await server.control('PUT', `/channels/${id}/stream`, {})
  return id
}
const grantOf = ({ world }: TestServer) => ({
  user_id: world.viewer.id,
  benefit_id: world.benefit.id,
  game_id: world.game.id,
})

/** One call of every operation that changes something, and what must be recorded of it. */
const CALLS: Record<string, Call> = {
  CreateUser: async () => ({
    path: '/users',
    body: { login: 'audited_one', password: 'a password to be kept secret' },
    subject: /^user\/\d+$/,
    ...created,
  }),
  PutUser: async server => {
    const { id } = await newUser(server)
    const body = { display_name: 'Audited', password: 'another password to keep' }
    return { path: `/users/${id}`, body, subject: `user/${id}`, ...changed }
  },
  DeleteUser: async server => {
    const id = await live(server)
    return { path: `/users/${id}`, subject: `user/${id}`, ...deleted }
  },
  SuspendUser: async server => {
    const id = await live(server)
    return {
      path: `/users/${id}/suspension`,
      body: { reason: 'Audited' },
      subject: `user/${id}`,
      ...changed,
    }
  },
  UnsuspendUser: async server => {
    const { id } = await newUser(server)
    await server.control('PUT', `/users/${id}/suspension`, {})
    return { path: `/users/${id}/suspension`, subject: `user/${id}`, ...changed }
  },
  ExportUser: async server => {
    const { id } = await newUser(server)
    return { path: `/users/${id}/export`, subject: `user/${id}`, ...created }
  },
  CreatePasswordReset: async server => {
    const { id } = await newUser(server)
    return { path: `/users/${id}/password-reset`, subject: `user/${id}`, ...created }
  },
  CreateOrganization: async () => ({
    path: '/organizations',
    body: { name: 'Audited' },
    subject: /^organization\/[0-9a-f-]{36}$/,
    ...created,
  }),
  PutOrganization: async server => {
    const { id } = await newOrganization(server)
    return {
      path: `/organizations/${id}`,
      body: { name: 'Renamed' },
      subject: `organization/${id}`,
      ...changed,
    }
  },
  DeleteOrganization: async server => {
    const { id } = await newOrganization(server)
    return { path: `/organizations/${id}`, subject: `organization/${id}`, ...deleted }
  },
  PutMember: async server => {
    const relation = `${(await newOrganization(server)).id}/member/${(await newUser(server)).id}`
    const path = `/organizations/${relation.replace('member', 'members')}`
    return { path, subject: `organization/${relation}`, ...created }
  },
  DeleteMember: async server => {
    const relation = `${(await newOrganization(server)).id}/member/${(await newUser(server)).id}`
    const path = `/organizations/${relation.replace('member', 'members')}`
    await server.control('PUT', path)
    return { path, subject: `organization/${relation}`, ...deleted }
  },
  CreateGame: async () => ({ path: '/games', body: { name: 'Audited' }, subject: /^game\/\d+$/, ...created }),
  PutGame: async server => {
    const { id } = await newGame(server)
    return { path: `/games/${id}`, body: { name: 'Renamed' }, subject: `game/${id}`, ...changed }
  },
  DeleteGame: async server => {
    const { id } = await newGame(server)
    return { path: `/games/${id}`, subject: `game/${id}`, ...deleted }
  },
  CreateBenefit: async server => ({
    path: '/benefits',
    body: { name: 'Audited', organization_id: server.world.organization.id },
    subject: /^benefit\/[0-9a-f-]{36}$/,
    ...created,
  }),
  PutBenefit: async server => {
    const { id } = await newBenefit(server)
    return { path: `/benefits/${id}`, body: { name: 'Renamed' }, subject: `benefit/${id}`, ...changed }
  },
  DeleteBenefit: async server => {
    const { id } = await newBenefit(server)
    return { path: `/benefits/${id}`, subject: `benefit/${id}`, ...deleted }
  },
  PutCampaign: async server => {
    const { id } = await newCampaign(server)
    return { path: `/campaigns/${id}`, body: { name: 'Renamed' }, subject: `campaign/${id}`, ...changed }
  },
  DeleteCampaign: async server => {
    const { id } = await newCampaign(server)
    return { path: `/campaigns/${id}`, subject: `campaign/${id}`, ...deleted }
  },
  PublishCampaign: async server => {
    const { id } = await newCampaign(server)
    return { path: `/campaigns/${id}/publish`, subject: `campaign/${id}`, ...changed }
  },
  StopCampaign: async server => {
    const { id } = await publishedCampaign(server)
    return { path: `/campaigns/${id}/stop`, subject: `campaign/${id}`, ...changed }
  },
  AddWatchedMinutes: async server => {
    const [{ id }, { viewer }] = [await publishedCampaign(server), server.world]
    const at = `/${id}/viewers/${viewer.id}/minutes`
    return {
      path: `/campaigns${at}`,
      body: { add: 1 },
      subject: `campaign/${id}/viewer/${viewer.id}`,
      ...changed,
    }
  },
  CreateClient: async () => ({
    path: '/clients',
    body: { name: 'Audited', implicit_grant: true },
    subject: /^client\/[a-z0-9]{30}$/,
    ...created,
  }),
  PatchClient: async server => {
    const { id } = await newClient(server)
    return { path: `/clients/${id}`, body: { name: 'Renamed' }, subject: `client/${id}`, ...changed }
  },
  RotateClientSecret: async server => {
    const { id } = await newClient(server)
    return { path: `/clients/${id}/rotate-secret`, subject: `client/${id}`, ...changed }
  },
  DeleteClient: async server => {
    const { id } = await newClient(server)
    return { path: `/clients/${id}`, subject: `client/${id}`, ...deleted }
  },
  IssueToken: async ({ world }) => ({
    path: '/tokens',
    body: { client_id: world.client.id, user_id: world.viewer.id, scopes: ['user:read:follows'] },
    subject: /^token\/[0-9a-f-]{36}$/,
    ...created,
  }),
  EndToken: async server => {
    const body = { client_id: server.world.client.id }
    const [{ access_token }] = await server.control('POST', '/tokens', body)
    return { path: '/tokens', body: { token: access_token }, subject: /^token\/[0-9a-f-]{36}$/, ...deleted }
  },
  PatchChannel: async server => {
    const { id } = await newUser(server)
    return { path: `/channels/${id}`, body: { title: 'Audited' }, subject: `channel/${id}`, ...changed }
  },
  PutEditor: async server => {
    const relation = `${(await newUser(server)).id}/editor/${(await newUser(server)).id}`
    return {
      path: `/channels/${relation.replace('editor', 'editors')}`,
      subject: `channel/${relation}`,
      ...created,
    }
  },
  DeleteEditor: async server => {
    const relation = `${(await newUser(server)).id}/editor/${(await newUser(server)).id}`
    const path = `/channels/${relation.replace('editor', 'editors')}`
    await server.control('PUT', path)
    return { path, subject: `channel/${relation}`, ...deleted }
  },
  StartStream: async server => {
    const { id } = await newUser(server)
    return { path: `/channels/${id}/stream`, body: {}, subject: `channel/${id}/stream`, ...created }
  },
  EndStream: async server => {
    const id = await live(server)
    return { path: `/channels/${id}/stream`, subject: `channel/${id}/stream`, ...deleted }
  },
  KickPublisher: async server => {
    const { id } = await newUser(server)
    const session = { adapter: 'generic', server: 'audited', session: id, user_id: id, watch_url: null }
    const stream = { stream_id: `4${id}`, video_id: `2${id}`, now: Date.now() }
    await server.strand.services.store.commands.openSession({ ...session, ...stream })
    return { path: `/channels/${id}/publisher`, subject: `channel/${id}/publisher`, ...deleted }
  },
  PutMediaServer: async () => ({
    path: '/media-servers/audited',
    body: { adapter: 'generic' },
    subject: 'media-server/audited',
    ...created,
  }),
  RotateMediaServerSecret: async server => {
    await server.control('PUT', '/media-servers/rotated', { adapter: 'generic' })
    return {
      path: '/media-servers/rotated/rotate-secret',
      body: {},
      subject: 'media-server/rotated/secret',
      ...created,
    }
  },
  DeleteMediaServer: async server => {
    await server.control('PUT', '/media-servers/leaving', { adapter: 'generic' })
    return { path: '/media-servers/leaving', subject: 'media-server/leaving', ...deleted }
  },
  ResendDelivery: async server => {
    const [{ id }] = await server.control(
      'GET',
      `/deliveries?subscription_id=${await newSubscription(server)}`,
    )
    return { path: `/deliveries/${id}/resend`, subject: `event-delivery/${id}`, ...created }
  },
  ReplayEvents: async server => {
    const subscription_id = await newSubscription(server)
    await server.execute(`update event_subscriptions set status = 'enabled' where id = '${subscription_id}'`)
    await server.execute(
      `update event_deliveries set kind = 'notification', status = 'delivered', due_at = null
       where subscription_id = '${subscription_id}'`,
    )
    return {
      path: '/events/replay',
      body: { since: '2020-01-01T00:00:00Z', subscription_id },
      subject: 'events',
      ...created,
    }
  },
  DeleteEventSubscription: async server => {
    const id = await newSubscription(server)
    return { path: `/event-subscriptions/${id}`, subject: `event-subscription/${id}`, ...deleted }
  },
  CreateStreamKey: async server => {
    const { id } = await newUser(server)
    const subject = `channel/${id}/stream-key/guest`
    return { path: `/channels/${id}/stream-keys`, body: { name: 'guest' }, subject, ...created }
  },
  DeleteStreamKey: async server => {
    const { id } = await newUser(server)
    await server.control('POST', `/channels/${id}/stream-keys`, { name: 'guest' })
    const subject = `channel/${id}/stream-key/guest`
    return { path: `/channels/${id}/stream-keys/guest`, subject, ...deleted }
  },
  RotateStreamKey: async server => {
    const { id } = await newUser(server)
    const subject = `channel/${id}/stream-key`
    return { path: `/channels/${id}/stream-key/rotate`, body: {}, subject, ...changed }
  },
  PutFollow: async server => {
    const relation = `${(await newUser(server)).id}/follow/${server.world.broadcaster.id}`
    return {
      path: `/users/${relation.replace('follow', 'follows')}`,
      subject: `user/${relation}`,
      ...created,
    }
  },
  DeleteFollow: async server => {
    const relation = `${(await newUser(server)).id}/follow/${server.world.broadcaster.id}`
    const path = `/users/${relation.replace('follow', 'follows')}`
    await server.control('PUT', path)
    return { path, subject: `user/${relation}`, ...deleted }
  },
  PutFollows: async server => {
    const broadcaster_id = server.world.broadcaster.id
    const users = [await newUser(server), await newUser(server)]
    const follows = users.map(user => ({ user_id: user.id, broadcaster_id }))
    return { path: '/follows', body: { follows }, subject: 'follows', ...created }
  },
  ReportViewers: async server => {
    const counts = { [await live(server)]: 4711, [await live(server)]: 4712 }
    return { path: '/viewers', body: { counts }, subject: 'viewers', ...created }
  },
  GrantEntitlements: async server => ({
    path: '/entitlements',
    body: { grants: Array(1000).fill(grantOf(server)) },
    subject: 'entitlements',
    ...created,
  }),
  PatchVideo: async server => {
    const user_id = await live(server)
    const [{ id }] = await server.control('GET', `/videos?user_id=${user_id}`)
    return { path: `/videos/${id}`, body: { view_count: 7 }, subject: `video/${id}`, ...changed }
  },
  DeleteVideo: async server => {
    const user_id = await live(server)
    const [{ id }] = await server.control('GET', `/videos?user_id=${user_id}`)
    return { path: `/videos/${id}`, subject: `video/${id}`, ...deleted }
  },
  CreateOperator: async () => ({
    path: '/operators',
    body: { name: 'audited' },
    subject: 'operator/audited',
    ...created,
  }),
  DeleteOperator: async server => {
    await server.control('POST', '/operators', { name: 'leaving' })
    return { path: '/operators/leaving', subject: 'operator/leaving', ...deleted }
  },
}

onEachStore('what operators change is recorded', {}, server => {
  const changing = operations.filter(each => familyOf(each) === 'control' && each.method !== 'GET')

  test('every operation that changes something is in this file', () => {
    expect(Object.keys(CALLS).sort()).toEqual(
      changing
        .map(each => each.id)
        .filter(id => !NOT_RECORDED.includes(id) && id !== 'ImportLines')
        .sort(),
    )
  })

  test('ImportLines leaves a row for each thing that it changes, and one for all', async () => {
    const [{ token }] = await server().control('POST', '/operators', { name: 'importlines' })
    const [{ id }] = await server().control('POST', '/entitlements', { grants: [grantOf(server())] })
    const { updated_at: _, ...entitlement } = (await server().control('GET', `/entitlements?id=${id}`))[0]
    const lines = [
      { type: 'game', id: '918273', name: 'Brought along' },
      {
        ...entitlement,
        type: 'entitlement',
        fulfillment_status: 'FULFILLED',
        last_updated: '2999-01-01T00:00:00.000Z',
      },
    ]
    const rawBody = lines.map(line => `${JSON.stringify(line)}\n`).join('')
    const answer = await server().call({ method: 'POST', path: '/control/import', rawBody, token })
    expect(answer.status).toBe(200)
    const rows = await walk(server(), PATH, { actor: 'operator/importlines' })
    expect(rows.map(row => `${row.operation} ${row.subject} ${row.before}`).toSorted()).toEqual([
      `ImportLines entitlement/${id} CLAIMED`,
      'ImportLines game/918273 null',
      'ImportLines import null',
    ])
  })

  for (const { id, method } of changing) {
    const call = CALLS[id]
    if (call === undefined) continue
    test(`${id} leaves one row`, async () => {
      const [{ token }] = await server().control('POST', '/operators', { name: id.toLowerCase() })
      const { path, body, subject, existed, exists } = await call(server())
      if (body !== undefined && 'password' in (body as object))
        server().canaries.add((body as { password: string }).password)
      const answer = await server().call({ method, path: `/control${path}`, body, token })
      expect(answer.status).toBeLessThan(300)
      const rows = await walk(server(), PATH, { actor: `operator/${id.toLowerCase()}` })
      expect(rows).toHaveLength(1)
      const [row] = rows
      expect(row).toMatchObject({ chain: 'operator', operation: id })
      if (typeof subject === 'string') expect(row.subject).toBe(subject)
      else expect(row.subject).toMatch(subject)
      expect([row.before !== null, row.after !== null]).toEqual([existed, exists])
    })
  }

  test('a grant of many lists the ids, a report the number of channels, follows the pairs up to a hundred', async () => {
    const { data } = (
      await server().call(
        asOperator(server(), {
          method: 'POST',
          path: '/control/entitlements',
          body: { grants: Array(3).fill(grantOf(server())) },
        }),
      )
    ).body
    const [granted] = await recordedOf(server(), 'entitlements')
    expect(granted.after).toEqual({ granted: data.map((row: Row) => row.id) })

    const one = await live(server())
    const other = await live(server())
    await server().control('POST', '/viewers', { counts: { [one]: 5, [other]: 6 } })
    expect((await recordedOf(server(), 'viewers'))[0].after).toEqual({ channels: 2 })

    const follower = await newUser(server())
    const channels: string[] = []
    while (channels.length < 101) channels.push((await newUser(server())).id)
    const follows = channels.map(broadcaster_id => ({ user_id: follower.id, broadcaster_id }))
    await server().control('POST', '/follows', { follows })
    const [followed] = await recordedOf(server(), 'follows')
    expect(followed.after).toEqual({ added: 101, follows: follows.slice(0, 100) })
  }, 20_000)

  test('secrets are recorded as changed, and nothing more', async () => {
    const password = 'not for any reader'
    server().canaries.add(password)
    const user = await newUser(server(), { password })
    const { email: _email, ...recorded } = user
    expect((await recordedOf(server(), `user/${user.id}`))[0].after).toEqual({
      ...recorded,
      password: 'changed',
    })
    const { secret: _, ...client } = await newClient(server())
    await server().control('POST', `/clients/${client.id}/rotate-secret`)
    const [rotated, made] = await recordedOf(server(), `client/${client.id}`)
    expect(made.after).toEqual(client)
    expect(rotated).toMatchObject({ before: client, after: { ...client, secret: 'changed' } })
  })
})

onEachStore('an email address', {}, server => {
  const FIRST = 'first.diver@reef.example.com'
  const SECOND = 'second.diver@reef.example.com'

  /** Every row of every table, as text. */
  async function storedRows(): Promise<string> {
    const names: { name: string }[] = await server().execute(
      server().engine === 'sqlite'
        ? "select name from sqlite_schema where type = 'table'"
        : "select table_name as name from information_schema.tables where table_schema = 'public'",
    )
    const rows = await Promise.all(names.map(({ name }) => server().execute(`select * from "${name}"`)))
    return JSON.stringify(rows)
  }

  test('is in no record and no log line, and is gone with its user (D-94)', async () => {
    const user = await newUser(server(), { email: FIRST })
    await server().control('PUT', `/users/${user.id}`, { email: SECOND })
    await server().control('PUT', `/users/${user.id}`, { display_name: 'Renamed' })
    const line = JSON.stringify({ type: 'user', id: user.id, login: user.login, email: FIRST })
    for (const rawBody of [line, line.replace(FIRST, 'no address'), line.replace(FIRST, SECOND)])
      await server().call({
        method: 'POST',
        path: '/control/import',
        rawBody,
        token: server().world.operator_token,
      })
    for (const email of [FIRST, SECOND])
      await server().call({
        method: 'PUT',
        path: `/control/users/${user.id}`,
        body: { email: `${email}@` },
        token: server().world.operator_token,
      })
    const rows = await recordedOf(server(), `user/${user.id}`)
    expect(rows.map((row: Row) => row.after.email)).toContain('changed')
    expect(await storedRows()).toContain(SECOND)

    await server().control('DELETE', `/users/${user.id}`)
    const traces = [await storedRows(), ...server().logLines, await walk(server(), PATH, { first: 100 })]
    expect(traces.filter(trace => JSON.stringify(trace).includes('diver@reef.example.com'))).toEqual([])
  })
})

/** The status before and after, of a change of one entitlement or of several. */
function statuses({ before, after }: Row): string {
  const of = (state: Row | string) => (typeof state === 'string' ? state : state.fulfillment_status)
  return `${of(before)} ${of(after)}`
}

onEachStore('what clients do to entitlements is recorded', {}, server => {
  const update = (
    token: string | undefined,
    entitlement_ids: readonly string[],
    fulfillment_status: string,
  ) =>
    server().call({
      method: 'PATCH',
      path: '/helix/entitlements/drops',
      body: { entitlement_ids, fulfillment_status },
      token,
    })
  const granted = async (count: number): Promise<string[]> => {
    const rows = await server().control('POST', '/entitlements', {
      grants: Array(count).fill(grantOf(server())),
    })
    return rows.map((row: Row) => row.id)
  }

  test('one row per call, in the chain of the organization and in the history of every entitlement', async () => {
    const { client, organization } = server().world
    const ids = await granted(100)
    await update(client.app_token, [...ids, ...ids.slice(0, 3), UNKNOWN_UUID, 'x'], 'FULFILLED')
    await update(client.app_token, ids, 'FULFILLED')
    for (const id of ids) {
      const rows = await recordedOf(server(), `entitlement/${id}`)
      expect(rows).toHaveLength(1)
      expect(rows[0]).toMatchObject({
        chain: organization.id,
        actor: `client/${client.id}`,
        operation: 'UpdateDropsEntitlements',
        subject: 'entitlements',
        before: { fulfillment_status: 'CLAIMED' },
        after: { fulfillment_status: 'FULFILLED', ids },
      })
    }
    const half = ids.slice(0, 50).reverse()
    await update(client.app_token, half, 'CLAIMED')
    await update(client.app_token, [ids[0] ?? ''], 'FULFILLED')
    await update(client.app_token, half, 'FULFILLED')
    const rows = await recordedOf(server(), `entitlement/${ids[0]}`)
    expect(rows.map(statuses)).toEqual(['CLAIMED FULFILLED', 'FULFILLED CLAIMED', 'CLAIMED FULFILLED'])
    // The last call changed all but the one that had been changed alone.
    const [last] = await recordedOf(server(), `entitlement/${ids[1]}`)
    expect(last.after.ids).toEqual(half.filter(id => id !== ids[0]))
    expect(await recordedOf(server(), `entitlement/${ids[99]}`)).toHaveLength(1)
  }, 20_000)

  test('the history of an entitlement has the changes of single calls and of batches, page by page', async () => {
    const { client } = server().world
    const ids = await granted(3)
    const [id = ''] = ids
    for (let n = 0; n < 12; n++)
      await update(client.app_token, n % 3 === 0 ? [id] : ids, n % 2 === 0 ? 'FULFILLED' : 'CLAIMED')
    const steps: { from: string | null; to: string; at: string }[] = []
    for (let after: string | undefined; ; ) {
      const query = { first: '2', ...(after !== undefined && { after }) }
      const path = `/control/entitlements/${id}/history`
      const { body } = await server().call(asOperator(server(), { path, query }))
      steps.push(...body.data)
      after = body.pagination.cursor
      if (after === undefined) break
    }
    expect(steps.map(step => step.to)).toEqual([
      'CLAIMED',
      ...Array.from({ length: 12 }, (_, n) => (n % 2 === 0 ? 'FULFILLED' : 'CLAIMED')),
    ])
    expect(steps.map(step => step.at)).toEqual(steps.map(step => step.at).toSorted())
  })

  test('a user token is recorded as its client and user', async () => {
    const { client, viewer } = server().world
    const [id = ''] = await granted(1)
    await update(viewer.token, [id], 'FULFILLED')
    const [row] = await recordedOf(server(), `entitlement/${id}`)
    expect(row.actor).toBe(`client/${client.id}/user/${viewer.id}`)
  })

  test('what may not be done leaves nothing', async () => {
    const { other_client } = server().world
    const [id = ''] = await granted(1)
    await update(other_client.app_token, [id], 'FULFILLED')
    expect((await recordedOf(server(), `entitlement/${id}`)).map(row => row.operation)).toEqual([
      'GrantEntitlements',
    ])
  })

  test('many at once, and the chains are whole', async () => {
    const { client } = server().world
    const ids = await granted(40)
    await Promise.all(
      Array.from({ length: 16 }, (_, n) =>
        n % 4 === 0
          ? server().call(
              asOperator(server(), {
                method: 'POST',
                path: '/control/organizations',
                body: { name: 'Beside' },
              }),
            )
          : update(client.app_token, ids, n % 2 === 0 ? 'FULFILLED' : 'CLAIMED'),
      ),
    )
    const verdict = await server().strand.services.store.audit.verify()
    expect(verdict).toMatchObject({ rows: expect.any(Number), heads: expect.any(Array) })
    for (const id of ids) {
      const rows = (await recordedOf(server(), `entitlement/${id}`)).toSorted((a, b) =>
        a.at < b.at ? -1 : 1,
      )
      for (const [index, row] of rows.entries()) {
        expect(['CLAIMED FULFILLED', 'FULFILLED CLAIMED']).toContain(statuses(row))
        if (index > 0) expect(statuses(row)).not.toBe(statuses(rows[index - 1]))
      }
    }
  }, 20_000)
})
