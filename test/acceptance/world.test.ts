/**
 * The acceptance suite: judges any server from outside, by the documents alone. It knows nothing of the program but a
 * base URL and the world that `strand demo --world FILE` describes. STRAND_WORLD names that file; without it a demo is
 * started here.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Documented } from '../support/server/documented.ts'

// biome-ignore lint/suspicious/noExplicitAny: whatever JSON the server sent
type Json = any

interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: Json
}

interface Ask {
  readonly method?: string
  readonly token?: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

const WHOLE_SECONDS = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/
const MILLISECONDS = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

let world: Json
let stop: () => Promise<void> = async () => undefined

beforeAll(async () => {
  const named = process.env.STRAND_WORLD
  if (named !== undefined) {
    world = JSON.parse(readFileSync(named, 'utf8'))
    return
  }
  const folder = mkdtempSync(join(tmpdir(), 'strand-acceptance-'))
  const file = join(folder, 'world.json')
  const main = join(import.meta.dir, '..', '..', 'src', 'main.ts')
  const surroundings = Object.entries(process.env).filter(
    ([name]) => !name.startsWith('STRAND_') && name !== 'DATABASE_URL',
  )
  const demo = Bun.spawn(
    [process.execPath, main, 'demo', '--port', '0', '--json', '--world', file, '--streams', '60'],
    { env: { ...Object.fromEntries(surroundings), STRAND_LOG: 'error' }, stdout: 'pipe', stderr: 'inherit' },
  )
  // Its one line means that it serves and that the file is written.
  await demo.stdout.getReader().read()
  world = JSON.parse(readFileSync(file, 'utf8'))
  stop = async () => {
    demo.kill('SIGTERM')
    await demo.exited
    rmSync(folder, { recursive: true, force: true })
  }
})
afterAll(() => stop())

async function ask(url: string, { method = 'GET', token, body, headers }: Ask = {}): Promise<Answer> {
  const response = await fetch(url, {
    method,
    headers: {
      ...(token !== undefined && { Authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  await expectDocumented(url, method, response, text)
  return {
    status: response.status,
    headers: response.headers,
    body: text === '' ? undefined : JSON.parse(text),
  }
}

let documented: Promise<Documented> | undefined

/** Every answer is as the OpenAPI document of the server describes it. Proxies may add headers. */
async function expectDocumented(url: string, method: string, response: Response, text: string) {
  documented ??= fetch(`${world.control_url}/openapi.json`)
    .then(answer => answer.json() as Promise<Json>)
    .then(document => new Documented(document))
  const { status, headers } = response
  const path = new URL(url).pathname
  const violations = (await documented).violationsOf({ method, path, status, headers, text })
  expect(violations.filter(each => !each.endsWith('is not described'))).toEqual([])
}

const helix = (path: string, options: Ask = {}) => ask(`${world.helix_url}${path}`, options)
const control = async (method: string, path: string, body: unknown = {}): Promise<Json> => {
  const answer = await ask(`${world.control_url}${path}`, { method, body, token: world.operator_token })
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(answer.body)}`)
  return answer.body?.data
}

/** Every element of a list, page after page, and how many pages there were. */
async function walk(
  path: string,
  options: Ask,
  rowsOf = (body: Json): Json[] => body.data,
): Promise<{ rows: Json[]; pages: number }> {
  const rows: Json[] = []
  let cursor: string | undefined
  for (let pages = 1; ; pages++) {
    const after = cursor === undefined ? '' : `&after=${cursor}`
    const answer = await helix(`${path}${after}`, options)
    expect(answer.status).toBe(200)
    rows.push(...rowsOf(answer.body))
    cursor = answer.body.pagination.cursor
    if (cursor === undefined) {
      expect(answer.body.pagination).toEqual({})
      return { rows, pages }
    }
    expect(cursor).toMatch(/^[A-Za-z0-9_-]+$/)
  }
}

function expectFailure(answer: Answer, status: number, message?: string): void {
  expect({ status: answer.status, body: answer.body }).toMatchObject({ status, body: { status } })
  expect(Object.keys(answer.body).toSorted()).toEqual(['error', 'message', 'status'])
  expect(answer.headers.get('content-type')).toBe('application/json')
  if (message !== undefined) expect(answer.body.message).toBe(message)
}

const ids = (rows: readonly Json[]) => rows.map(row => row.id)

/** A channel of our own that is live, so that nothing else disturbs what we count. */
async function ownChannel(): Promise<{ id: string; login: string; token: string }> {
  const login = `acceptance_${Math.random().toString(36).slice(2, 10)}`
  const [user] = await control('POST', '/users', { login })
  const [{ access_token: token }] = await control('POST', '/tokens', {
    client_id: world.client.id,
    user_id: user.id,
    scopes: world.users[0].scopes,
  })
  await control('PUT', `/channels/${user.id}/stream`, { viewer_count: 3 })
  return { id: user.id, login, token }
}

async function grant(count: number): Promise<string[]> {
  const one = { user_id: world.viewer.id, benefit_id: world.benefit.id, game_id: world.game.id }
  return ids(await control('POST', '/entitlements', { grants: Array(count).fill(one) }))
}

describe('GetStreams', () => {
  test('200 needs no token; fourteen fields and tag_ids, most viewers first', async () => {
    const { status, headers, body } = await helix('/streams?first=50')
    expect(status).toBe(200)
    expect(headers.get('content-type')).toBe('application/json')
    expect(body.data.length).toBeGreaterThan(10)
    for (const stream of body.data) {
      expect(Object.keys(stream).toSorted()).toEqual(
        [
          ...['id', 'user_id', 'user_login', 'user_name', 'game_id', 'game_name', 'type', 'title'],
          ...['viewer_count', 'started_at', 'language', 'thumbnail_url', 'tag_ids', 'tags', 'is_mature'],
        ].toSorted(),
      )
      expect(Object.values(stream)).not.toContain(null)
      expect(stream.id).toMatch(/^[0-9]+$/)
      expect(stream.type).toBe('live')
      expect(stream.started_at).toMatch(WHOLE_SECONDS)
      expect(stream.thumbnail_url).toContain('{width}x{height}')
      expect(stream.tags).toBeArray()
      expect(stream.tag_ids).toEqual([])
      expect(stream.is_mature).toBeBoolean()
      expect(stream.viewer_count).toBeGreaterThanOrEqual(0)
    }
    const viewers = body.data.map((stream: Json) => stream.viewer_count)
    expect(viewers).toEqual(viewers.toSorted((a: number, b: number) => b - a))
  })

  test('200 a walk shows every live stream exactly once, with any page size', async () => {
    const sizes = [100, 7, 3].map(first => walk(`/streams?first=${first}`, {}))
    const [whole, ...others] = (await Promise.all(sizes)).map(({ rows }) => ids(rows))
    expect(new Set(whole).size).toBe(whole?.length as number)
    for (const other of others) expect(other.toSorted()).toEqual((whole ?? []).toSorted())
  })

  test('200 back again from the second page', async () => {
    const first = await helix('/streams?first=5')
    const second = await helix(`/streams?first=5&after=${first.body.pagination.cursor}`)
    const back = await helix(`/streams?first=5&before=${second.body.pagination.cursor}`)
    expect(ids(back.body.data)).toEqual(ids(first.body.data))
    expect(back.body.pagination).toEqual({})
  })

  test('200 (user_id or user_login) and game_id and language; who is offline is absent', async () => {
    const { broadcaster, offline, game } = world
    const named = await helix(
      `/streams?user_id=${offline.id}&user_id=${broadcaster.id}&user_login=${broadcaster.login.toUpperCase()}`,
    )
    expect(named.body.data.map((row: Json) => row.user_id)).toEqual([broadcaster.id])
    const played = await walk(`/streams?game_id=${game.id}&first=100`, {})
    expect(played.rows.every(row => row.game_id === game.id)).toBe(true)
    const [{ language }] = named.body.data
    const spoken = await helix(`/streams?user_id=${broadcaster.id}&language=${language}&type=live`)
    expect(spoken.body.data).toHaveLength(1)
    expect((await helix(`/streams?user_id=${broadcaster.id}&language=zz`)).body.data).toEqual([])
  })

  test('200 a start and an end show at once', async () => {
    const channel = await ownChannel()
    expect((await helix(`/streams?user_id=${channel.id}`)).body.data).toHaveLength(1)
    await control('DELETE', `/channels/${channel.id}/stream`)
    expect((await helix(`/streams?user_id=${channel.id}`)).body.data).toEqual([])
  })

  test('400 for what cannot be understood, in the known words', async () => {
    const first = 'The parameter "first" was malformed: the value must be'
    expectFailure(await helix('/streams?first=101'), 400, `${first} less than or equal to 100`)
    expectFailure(await helix('/streams?first=0'), 400, `${first} greater than or equal to 1`)
    expectFailure(await helix('/streams?first=1e2'), 400, `${first} an integer`)
    expectFailure(await helix('/streams?after=invented'), 400, 'invalid cursor')
    expectFailure(
      await helix('/streams?type=vodcast'),
      400,
      'The parameter "type" was malformed: value must be one of "all", "live"',
    )
    const many = Array.from({ length: 101 }, (_, n) => `user_login=u${n}`).join('&')
    expectFailure(
      await helix(`/streams?${many}`),
      400,
      'The parameter "user_login" was malformed: the value must be less than or equal to 100',
    )
    expectFailure(await helix('/streams?user_id=%FF'), 400)
  })

  test('401 a token that is sent must be good', async () => {
    expectFailure(await helix('/streams', { token: 'invented' }), 401, 'Invalid OAuth token')
  })
})

describe('GetFollowedStreams', () => {
  test('200 the live channels that the user follows, page by page', async () => {
    const { viewer, broadcaster } = world
    const path = `/streams/followed?user_id=${viewer.id}`
    const whole = await walk(path, { token: viewer.token })
    const bit = await walk(`${path}&first=3`, { token: viewer.token })
    expect(ids(bit.rows).toSorted()).toEqual(ids(whole.rows).toSorted())
    expect(whole.rows.map(row => row.user_id)).toContain(broadcaster.id)
    expect(whole.rows.map(row => row.user_id)).not.toContain(world.offline.id)
  })

  test('400 without user_id, 401 for another user', async () => {
    const { viewer, broadcaster } = world
    const { token } = viewer
    expectFailure(await helix('/streams/followed', { token }), 400, 'Missing required parameter "user_id"')
    expectFailure(
      await helix(`/streams/followed?user_id=${broadcaster.id}`, { token }),
      401,
      "The ID in user_id must match the user ID found in the request's OAuth token.",
    )
  })
})

describe('GetStreamKey', () => {
  test('200 one key, the same each time', async () => {
    const { id, token } = world.broadcaster
    const answer = await helix(`/streams/key?broadcaster_id=${id}`, { token })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect(answer.body.data).toHaveLength(1)
    expect(answer.body.data[0].stream_key).toMatch(new RegExp(`^live_${id}_[A-Za-z0-9]{30}$`))
    expect((await helix(`/streams/key?broadcaster_id=${id}`, { token })).body).toEqual(answer.body)
  })

  test('401 for another user, an app token, no token, a missing scope', async () => {
    const { broadcaster, viewer, client } = world
    const path = `/streams/key?broadcaster_id=${broadcaster.id}`
    expectFailure(await helix(path, { token: viewer.token }), 401)
    expectFailure(await helix(path, { token: client.app_token }), 401)
    expectFailure(await helix(path), 401, 'OAuth token is missing')
    const [{ access_token: token }] = await control('POST', '/tokens', {
      client_id: client.id,
      user_id: broadcaster.id,
      scopes: ['user:read:follows'],
    })
    expectFailure(await helix(path, { token }), 401, 'Missing scope: channel:read:stream_key')
  })
})

describe('CreateStreamMarker and GetStreamMarkers', () => {
  test('200 markers are made from body or query and listed in their order, with url and URL', async () => {
    const { id, login, token } = await ownChannel()
    const made: Json[] = []
    for (const description of ['one', 'two ✨', '']) {
      const answer = await helix('/streams/markers', {
        method: 'POST',
        token,
        body: { user_id: id, description },
      })
      expect(answer.status).toBe(200)
      made.push(...answer.body.data)
    }
    const byQuery = await helix(`/streams/markers?user_id=${id}&description=four`, { method: 'POST', token })
    made.push(...byQuery.body.data)
    expect(made.map(marker => marker.description)).toEqual(['one', 'two ✨', '', 'four'])
    for (const marker of made) {
      expect(Object.keys(marker).toSorted()).toEqual(['created_at', 'description', 'id', 'position_seconds'])
      expect(marker.id).toMatch(/^[0-9a-f]{32}$/)
      expect(marker.created_at).toMatch(WHOLE_SECONDS)
    }

    const listing = await helix(`/streams/markers?user_id=${id}`, { token })
    const [group, ...others] = listing.body.data
    expect(others).toEqual([])
    expect(group).toMatchObject({ user_id: id, user_login: login })
    expect(group.videos).toHaveLength(1)
    const [video] = group.videos
    expect(ids(video.markers).toSorted()).toEqual(ids(made).toSorted())
    for (const marker of video.markers) expect(marker.url).toBe(marker.URL)
    const paged = await walk(
      `/streams/markers?video_id=${video.video_id}&first=1`,
      { token },
      body => body.data[0].videos[0].markers,
    )
    expect(ids(paged.rows)).toEqual(ids(video.markers))
    expect(paged.pages).toBe(4)
  })

  test('200 an editor may make and list them; 403 a stranger may not', async () => {
    const { broadcaster, editor, viewer } = world
    const body = { user_id: broadcaster.id }
    const post = (token: string) => helix('/streams/markers', { method: 'POST', token, body })
    expect((await post(editor.token)).status).toBe(200)
    expectFailure(
      await post(viewer.token),
      403,
      `Not authorized to create a stream marker for channel ${broadcaster.login}.`,
    )
    const path = `/streams/markers?user_id=${broadcaster.id}`
    expect((await helix(path, { token: editor.token })).status).toBe(200)
    expectFailure(await helix(path, { token: viewer.token }), 403)
  })

  test('200 the same Idempotency-Key answers with the first marker, 400 with other input', async () => {
    const { id, token } = await ownChannel()
    const post = (description: string) =>
      helix('/streams/markers', {
        method: 'POST',
        token,
        body: { user_id: id, description },
        headers: { 'Idempotency-Key': `key-${id}` },
      })
    const first = await post('once')
    await control('DELETE', `/channels/${id}/stream`)
    expect((await post('once')).body).toEqual(first.body)
    expectFailure(await post('twice'), 400)
  })

  test('404 when the channel is not live, the user has no videos, or the video is unknown', async () => {
    const { id, token } = world.offline
    const body = { user_id: id }
    expectFailure(await helix('/streams/markers', { method: 'POST', token, body }), 404)
    expectFailure(await helix(`/streams/markers?user_id=${id}`, { token }), 404)
    expectFailure(await helix('/streams/markers?video_id=1', { token }), 404)
  })

  test('400 a description over 140 code points; both or neither of user_id and video_id', async () => {
    const { id, token } = await ownChannel()
    const post = (description: string) =>
      helix('/streams/markers', { method: 'POST', token, body: { user_id: id, description } })
    expect((await post('😀'.repeat(140))).status).toBe(200)
    expectFailure(await post('😀'.repeat(141)), 400)
    const message = 'Exactly one of "user_id" and "video_id" is required'
    expectFailure(await helix('/streams/markers', { token }), 400, message)
    expectFailure(await helix(`/streams/markers?user_id=${id}&video_id=1`, { token }), 400, message)
  })
})

describe('GetDropsEntitlements and UpdateDropsEntitlements', () => {
  test('200 every entitlement of the organization, newest first, exactly once', async () => {
    const { rows } = await walk('/entitlements/drops?first=100', { token: world.client.app_token })
    expect(rows.length).toBeGreaterThan(100)
    expect(new Set(ids(rows)).size).toBe(rows.length)
    const order = rows.map(row => `${row.timestamp} ${row.id}`)
    expect(order).toEqual(order.toSorted().toReversed())
    for (const row of rows) {
      expect(Object.keys(row).toSorted()).toEqual(
        [
          ...['id', 'benefit_id', 'timestamp', 'user_id', 'game_id', 'fulfillment_status'],
          ...['last_updated', 'updated_at'],
        ].toSorted(),
      )
      expect(row.id).toMatch(UUID)
      expect(row.timestamp).toMatch(MILLISECONDS)
      expect(row.updated_at).toBe(row.last_updated)
      expect(row.last_updated >= row.timestamp).toBe(true)
    }
  })

  test('200 filters; a user token sees its user only', async () => {
    const { client, viewer, game } = world
    const app = { token: client.app_token }
    const path = `/entitlements/drops?user_id=${viewer.id}&game_id=${game.id}&fulfillment_status=CLAIMED&first=100`
    const filtered = await walk(path, app)
    for (const row of filtered.rows) {
      expect(row).toMatchObject({ user_id: viewer.id, game_id: game.id, fulfillment_status: 'CLAIMED' })
    }
    const own = await walk('/entitlements/drops?first=100', { token: viewer.token })
    const same = await walk(`/entitlements/drops?user_id=${viewer.id}&first=100`, app)
    expect(ids(own.rows)).toEqual(ids(same.rows))
    expectFailure(
      await helix(`/entitlements/drops?user_id=${world.broadcaster.id}`, { token: viewer.token }),
      400,
    )
  })

  test('200 each id gets its status, and a batch of 100 comes back whole', async () => {
    const token = world.client.app_token
    const own = await grant(100)
    const foreign = await helix('/entitlements/drops?first=1', { token: world.other_client.app_token })
    const unknown = crypto.randomUUID()
    const patch = (entitlement_ids: string[], fulfillment_status: string) =>
      helix('/entitlements/drops', {
        method: 'PATCH',
        token,
        body: { entitlement_ids, fulfillment_status },
      })
    const mixed = await patch(['', own[0] as string, unknown, foreign.body.data[0].id], 'FULFILLED')
    expect(mixed.body).toEqual({
      data: [
        { status: 'SUCCESS', ids: [own[0]] },
        { status: 'INVALID_ID', ids: [''] },
        { status: 'NOT_FOUND', ids: [unknown] },
        { status: 'UNAUTHORIZED', ids: [foreign.body.data[0].id] },
      ],
    })
    const batch = await patch(own, 'FULFILLED')
    expect(batch.body).toEqual({ data: [{ status: 'SUCCESS', ids: own }] })
    const query = own.map(id => `id=${id}`).join('&')
    const { body } = await helix(`/entitlements/drops?${query}`, { token })
    expect(body.data).toHaveLength(100)
    expect(body.data.every((row: Json) => row.fulfillment_status === 'FULFILLED')).toBe(true)
    const back = await patch([own[0] as string], 'CLAIMED')
    expect(back.body.data).toEqual([{ status: 'SUCCESS', ids: [own[0]] }])
    const after = await helix(`/entitlements/drops?id=${own[0]?.toUpperCase()}`, { token })
    const before = body.data.find((row: Json) => row.id === own[0])
    expect(after.body.data[0].fulfillment_status).toBe('CLAIMED')
    expect(after.body.data[0].last_updated > before.last_updated).toBe(true)
  })

  test('400 bodies that are not right change nothing', async () => {
    const token = world.client.app_token
    const [id] = await grant(1)
    for (const body of [
      {},
      { entitlement_ids: [id] },
      { entitlement_ids: [], fulfillment_status: 'FULFILLED' },
      { entitlement_ids: Array(101).fill(id), fulfillment_status: 'FULFILLED' },
      { entitlement_ids: [id, 5], fulfillment_status: 'FULFILLED' },
      { entitlement_ids: [id, 'a\0'], fulfillment_status: 'FULFILLED' },
      { entitlement_ids: [id], fulfillment_status: 'fulfilled' },
    ]) {
      expectFailure(await helix('/entitlements/drops', { method: 'PATCH', token, body }), 400)
    }
    const { body } = await helix(`/entitlements/drops?id=${id}`, { token })
    expect(body.data).toMatchObject([{ id, fulfillment_status: 'CLAIMED' }])
  })

  test('403 the game or the entitlement of another organization', async () => {
    const { client, other_client, game } = world
    const foreign = await helix('/entitlements/drops?first=1', { token: other_client.app_token })
    const token = client.app_token
    expectFailure(await helix(`/entitlements/drops?id=${foreign.body.data[0].id}`, { token }), 403)
    expectFailure(
      await helix(`/entitlements/drops?game_id=${game.id}`, { token: other_client.app_token }),
      403,
      'game not managed by this organization.',
    )
  })

  test('401 without a token, with the wrong Client-Id, without the scope', async () => {
    const { client, other_client, viewer } = world
    expectFailure(await helix('/entitlements/drops'), 401, 'OAuth token is missing')
    expectFailure(
      await helix('/entitlements/drops', {
        token: client.app_token,
        headers: { 'Client-Id': other_client.id },
      }),
      401,
      'Client ID and OAuth token do not match',
    )
    const [{ access_token: token }] = await control('POST', '/tokens', {
      client_id: client.id,
      user_id: viewer.id,
      scopes: ['user:read:follows'],
    })
    expectFailure(await helix('/entitlements/drops', { token }), 401, 'Missing scope: user:read:entitlements')
  })
})

describe('what all operations share', () => {
  test('rate headers, request id and open origin on every answer, failures included', async () => {
    for (const [path, id] of [
      ['/streams?first=1', 'acceptance-1'],
      ['/streams?first=0', 'acceptance-2'],
      ['/streams/key', 'acceptance-3'],
      ['/nothing', 'acceptance-4'],
    ]) {
      const { headers } = await helix(path as string, { headers: { 'X-Request-Id': id as string } })
      for (const name of ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset']) {
        expect(headers.get(name)).toMatch(/^[0-9]+$/)
      }
      expect(headers.get('x-request-id')).toBe(id as string)
      expect(headers.get('access-control-allow-origin')).toBe('*')
    }
  })

  test('404 unknown paths and methods, as JSON', async () => {
    expectFailure(await helix('/nothing'), 404)
    expectFailure(await helix('/streams', { method: 'PUT', body: {} }), 404)
    expectFailure(await helix('/streams/key', { method: 'DELETE' }), 404)
  })

  test('the aliases that client libraries use answer the same', async () => {
    const { base_url, broadcaster } = world
    const path = `streams?user_id=${broadcaster.id}`
    const [mock, canonical] = [await ask(`${base_url}/mock/${path}`), await helix(`/${path}`)]
    expect(ids(mock.body.data)).toEqual(ids(canonical.body.data))
    const info = await ask(`${base_url}/auth/validate`, { token: broadcaster.token })
    expect(info.body).toMatchObject({ user_id: broadcaster.id, login: broadcaster.login })
  })

  test('an app token is granted, described, used and revoked', async () => {
    const { oauth_url, client } = world
    const secret = `client_id=${client.id}&client_secret=${client.secret}`
    const granted = await ask(`${oauth_url}/token?grant_type=client_credentials&${secret}`, {
      method: 'POST',
    })
    const { access_token: token } = granted.body
    expect(granted.body).toMatchObject({ token_type: 'bearer', expires_in: expect.any(Number) })
    const info = await ask(`${oauth_url}/validate`, { headers: { Authorization: `OAuth ${token}` } })
    expect(Object.keys(info.body).toSorted()).toEqual(['client_id', 'expires_in', 'scopes'])
    expect((await helix('/entitlements/drops', { token })).status).toBe(200)
    const revoked = await ask(`${oauth_url}/revoke?client_id=${client.id}&token=${token}`, { method: 'POST' })
    expect({ status: revoked.status, body: revoked.body }).toEqual({ status: 200, body: undefined })
    expectFailure(await helix('/entitlements/drops', { token }), 401, 'Invalid OAuth token')
    const refused = await ask(`${oauth_url}/token?grant_type=client_credentials&${secret}x`, {
      method: 'POST',
    })
    expect(refused.body).toEqual({ status: 403, message: 'invalid client secret' })
  })
})
