/** What media servers send, and what they are answered: recorded requests where a server was run, documented ones otherwise. */
import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { jwtVerify } from 'jose'
import { hashToken } from '../../src/auth/tokens.ts'
import type { HookRequest, IngestEvent, Outcome } from '../../src/ingest/adapters/adapter.ts'
import { adapters } from '../../src/ingest/adapters/index.ts'
import { createApiCall } from '../../src/ingest/api-call.ts'
import { deriveApiSecret } from '../../src/ingest/api-secret.ts'
import { callbackUrl, writeConfiguration } from '../../src/ingest/configuration.ts'

const fixture = (name: string): string => readFileSync(`test/fixtures/${name}`, 'utf8')
const form = (text: string): HookRequest => ({ form: new URLSearchParams(text) })
const json = (value: object): HookRequest => ({ json: value as Readonly<Record<string, unknown>> })

const ACCEPTED: Outcome = { kind: 'accepted', login: 'lunar_otter', user_id: '141981764' }
const REFUSED: Outcome = { kind: 'refused' }
const NOTED: Outcome = { kind: 'noted' }
const GONE: Outcome = { kind: 'gone' }
const NOT_ALLOWED: IngestEvent = { kind: 'other', allowed: false }
const ALLOWED: IngestEvent = { kind: 'other', allowed: true }

describe('nginx-rtmp', () => {
  const { read, respond, api } = adapters['nginx-rtmp']
  const recorded = fixture('nginx-rtmp.txt')
    .split('\n')
    .filter(line => line.startsWith('app='))

  test('every recorded request is understood', () => {
    expect(recorded.length).toBeGreaterThan(30)
    for (const line of recorded) expect([line, read(form(line)) !== undefined]).toEqual([line, true])
  })

  const prefix =
    'app=live&flashver=FMLE/3.0%20(compatible%3B%20Lavf58.27&swfurl=&tcurl=rtmp://127.0.0.1:19350/live&pageurl=&addr=192.0.2.7&clientid=21'
  const publish = (name: string) => ({ kind: 'publish', session: '21', name, address: '192.0.2.7' }) as const
  const table: readonly (readonly [string, IngestEvent | undefined])[] = [
    ['call=publish&name=live_1_K&type=live', publish('live_1_K')],
    ['call=publish&name=bob&type=live&key=live_3_K', publish('bob?key=live_3_K')],
    ['call=publish&name=bob&type=live&token=live_3_K&x=1', publish('bob?key=live_3_K')],
    // Two keys are for the key check to refuse.
    ['call=publish&name=bob&type=live&key=a&pass=b', publish('bob?key=a&key=b')],
    ['call=publish&name=bob&type=live&key=live_3_K&name=victim&call=publish_done', NOT_ALLOWED],
    ['call=publish_done&name=bob&clientid=7', NOT_ALLOWED],
    ['call=publish&name=bob%3Fkey%3Da&type=live', NOT_ALLOWED],
    ['call=publish_done&name=live_1_K', { kind: 'end', session: '21' }],
    ['call=update_publish&time=2&timestamp=1846&name=live_1_K', { kind: 'alive', session: '21' }],
    ['call=record_done&recorder=&name=k&path=/srv/a.flv', { kind: 'recorded', of: '21', file: 'a.flv' }],
    ['call=record_done&recorder=&name=k', { kind: 'recorded', of: '21', file: undefined }],
    ['call=play&name=bob&start=0&duration=0&reset=0', ALLOWED],
    ['call=connect', ALLOWED],
    ['name=bob', undefined],
    ['call=publish', undefined],
  ]
  for (const [text, event] of table) {
    test(text, () => {
      expect(read(form(`${prefix}&${text}`))).toEqual(event)
    })
  }

  test('an accepted publisher is redirected to the login, and nothing but a refusal is an error', () => {
    expect(respond(ACCEPTED, {})).toEqual({ status: 302, location: 'lunar_otter' })
    expect([respond(REFUSED, {}), respond(NOTED, {}), respond(GONE, {})]).toEqual([
      { status: 403 },
      { status: 200 },
      { status: 200 },
    ])
  })

  test('publishers come from the ingest application, viewers from the playback application', async () => {
    const recordedStat = fixture('nginx-rtmp-stat.xml')
    expect(await api?.publishers(async () => recordedStat)).toEqual([
      { session: '47', login: 'watchme', viewers: 0 },
    ])
    const shown = recordedStat.replace(
      /<name>show<\/name>\s*<live>/,
      `<name>show</name>\n<live><stream><name>watchme</name>
       <client><id>50</id><publishing/><active/></client><client><id>51</id></client><client><id>52</id></client></stream>`,
    )
    expect(await api?.publishers(async () => shown)).toEqual([
      { session: '47', login: 'watchme', viewers: 2 },
    ])
    for (const text of ['', '<rtmp>', '<application><name>live</name><live><stream><name>a', '<html></html>'])
      expect(await api?.publishers(async () => text)).toEqual([])
  })

  test('a kick drops the publisher by its name, if it is still the same one', async () => {
    const calls: string[] = []
    const call = async (path: string) => {
      calls.push(path)
      return path === '/stat' ? fixture('nginx-rtmp-stat.xml') : '1'
    }
    await api?.kick?.(call, { session: '46', login: 'watchme' })
    expect(calls).toEqual(['/stat'])
    await api?.kick?.(call, { session: '47', login: 'watchme' })
    expect(calls.at(-1)).toBe('/control/drop/publisher?app=live&name=watchme')
  })
})

describe('MediaMTX', () => {
  const { read, respond, api } = adapters.mediamtx
  const asked = {
    ip: '192.0.2.7',
    user: '',
    password: '',
    token: '',
    action: 'publish',
    path: 'live/lunar_otter',
    protocol: 'rtmp',
    id: '3d6c1b8e-9a0f-4c3e-9b5f-0d2e0a7a1c11',
    query: 'token=live_1_K',
    userAgent: '',
  }
  const published = {
    kind: 'publish',
    session: asked.id,
    name: 'lunar_otter?key=live_1_K',
    address: asked.ip,
  }
  const table: readonly (readonly [string, object, object | undefined])[] = [
    ['a publisher with a token in the query', {}, published],
    ['a publisher with a token', { token: 'live_1_K', query: '' }, published],
    [
      'a publisher with a password, which is also the token',
      { password: 'live_1_K', token: 'live_1_K' },
      published,
    ],
    ['a publisher whose session is not known yet', { id: null }, { ...published, session: undefined }],
    ['the key as the path', { path: 'live/live_1_K', query: '' }, NOT_ALLOWED],
    ['two keys', { query: 'token=a&key=b' }, NOT_ALLOWED],
    ['no path', { path: '' }, NOT_ALLOWED],
    ['a viewer', { action: 'read' }, ALLOWED],
    ['a viewer of a recording', { action: 'playback' }, ALLOWED],
    ['the API from elsewhere', { action: 'api' }, NOT_ALLOWED],
    ['the API from the same machine', { action: 'api', ip: '127.0.0.1' }, ALLOWED],
    ['metrics from elsewhere', { action: 'metrics' }, NOT_ALLOWED],
    ['pprof from the same machine', { action: 'pprof', ip: '::1' }, ALLOWED],
    ['nothing', { action: undefined }, undefined],
  ]
  for (const [title, change, event] of table) {
    test(title, () => {
      expect(read(json({ ...asked, ...change }))).toEqual(event as IngestEvent | undefined)
    })
  }

  test('the optional command ends a session', () => {
    expect(read(form('event=end&session=abc'))).toEqual({ kind: 'end', session: 'abc' })
    expect(read(form('event=end&session='))).toBeUndefined()
  })

  test('401 refuses, so that clients without credentials are asked for them', () => {
    expect([ACCEPTED, NOTED, REFUSED].map(outcome => respond(outcome, {}).status)).toEqual([200, 200, 401])
  })

  const path = (name: string, more: object) => ({
    name: `live/${name}`,
    source: { type: 'rtmpConn', id: `id-${name}` },
    online: true,
    readers: [{ type: 'hlsMuxer', id: '' }],
    ...more,
  })
  const pages: readonly object[] = [
    {
      pageCount: 2,
      items: [
        path('one', {}),
        path('off', { online: false }),
        path('pulled', { source: { type: 'rtspSource', id: '' } }),
      ],
    },
    {
      pageCount: 2,
      items: [path('two', { online: undefined, ready: true, readers: [] }), { name: 'x' }, null],
    },
  ]

  test('publishers come from all pages of the paths, without those that the server pulls', async () => {
    const call = async (url: string) => JSON.stringify(pages[url.endsWith('page=1') ? 1 : 0])
    expect(await api?.publishers(call)).toEqual([
      { session: 'id-one', login: 'one', viewers: 1 },
      { session: 'id-two', login: 'two', viewers: 0 },
    ])
  })

  test('a kick names the kind of connection', async () => {
    const calls: string[] = []
    const call = async (url: string, method = 'GET') => {
      calls.push(`${method} ${url}`)
      return JSON.stringify({ ...pages[0], pageCount: 1 })
    }
    await api?.kick?.(call, { session: 'id-one', login: 'one' })
    await api?.kick?.(call, { session: 'gone', login: 'one' })
    expect(calls.filter(each => each.startsWith('POST'))).toEqual(['POST /v3/rtmpconns/kick/id-one'])
  })
})

describe('SRS', () => {
  const { read, respond, api } = adapters.srs
  const base = {
    server_id: 'vid-0xk989d',
    service_id: '382a6ue9',
    client_id: '9o7g8330',
    ip: '192.0.2.7',
    vhost: '__defaultVhost__',
    app: 'live',
    tcUrl: 'rtmp://192.0.2.1/live',
    stream: 'lunar_otter',
    param: '?key=live_1_K',
    stream_url: '/live/lunar_otter',
    stream_id: 'vid-1',
  }
  const table: readonly (readonly [string, object, object | undefined])[] = [
    [
      'on_publish',
      {},
      { kind: 'publish', session: '9o7g8330', name: 'lunar_otter?key=live_1_K', address: '192.0.2.7' },
    ],
    ['on_publish', { param: '', stream: 'live_1_K' }, NOT_ALLOWED],
    ['on_unpublish', {}, { kind: 'end', session: '9o7g8330' }],
    ['on_dvr', { cwd: '/srv', file: './objs/a.flv' }, { kind: 'recorded', of: '9o7g8330', file: 'a.flv' }],
    ['on_play', {}, { kind: 'viewer', login: 'lunar_otter', viewer: '9o7g8330', isThere: true }],
    ['on_stop', {}, { kind: 'viewer', login: 'lunar_otter', viewer: '9o7g8330', isThere: false }],
    ['on_hls', {}, ALLOWED],
    ['on_connect', { stream: undefined }, ALLOWED],
  ]
  for (const [action, change, event] of table) {
    test(`${action} ${JSON.stringify(change)}`, () => {
      expect(read(json({ action, ...base, ...change }))).toEqual(event as IngestEvent | undefined)
    })
  }

  test('the answer is a code, and never empty', () => {
    expect(respond(ACCEPTED, {})).toEqual({ status: 200, json: { code: 0, data: null } })
    expect(respond(NOTED, {})).toEqual({ status: 200, json: { code: 0, data: null } })
    expect(respond(REFUSED, {})).toEqual({ status: 403, json: { code: 403, data: null } })
  })

  test('publishers are those of the active streams; the publisher is no viewer', async () => {
    const streams = [
      { name: 'one', clients: 3, publish: { active: true, cid: 'a' } },
      { name: 'off', clients: 0, publish: { active: false, cid: 'b' } },
    ]
    expect(await api?.publishers(async () => JSON.stringify({ code: 0, streams }))).toEqual([
      { session: 'a', login: 'one', viewers: 2 },
    ])
    const calls: string[] = []
    await api?.kick?.(async (url, method) => String(calls.push(`${method} ${url}`)), {
      session: 'a',
      login: 'one',
    })
    expect(calls).toEqual(['DELETE /api/v1/clients/a'])
  })
})

describe('node-media-server', () => {
  const { read, respond, api } = adapters['node-media-server']
  const recorded = fixture('node-media-server.txt')
    .trim()
    .split('\n')
    .map(line => JSON.parse(line.slice(line.indexOf('{'))) as object)

  test('every recorded request is understood; the key as the name is refused, because it is the playback path', () => {
    expect(recorded.map(each => read(json(each)))).toEqual([
      NOT_ALLOWED,
      ALLOWED,
      ALLOWED,
      NOT_ALLOWED,
      ALLOWED,
      ALLOWED,
    ])
  })

  test('a login with the key in the query publishes', () => {
    const event = { ...recorded[0], name: 'lunar_otter', query: { key: 'live_1_K' } }
    expect(read(json(event))).toEqual({
      kind: 'publish',
      session: 'mwh23ze8pwnexaf8',
      name: 'lunar_otter?key=live_1_K',
      address: '127.0.0.1',
    })
    expect(read(json({ ...event, action: 'donePublish' }))).toEqual({
      kind: 'end',
      session: 'mwh23ze8pwnexaf8',
    })
    expect(read(json({ ...event, query: 'x' }))).toEqual(NOT_ALLOWED)
    expect(read(json({ ...event, query: { key: ['a', 'b'] } }))).toEqual(NOT_ALLOWED)
  })

  test('a recording is that of a channel since a time, and its file is below the name', () => {
    const event = { ...recorded[2], name: 'lunar_otter', action: 'doneRecord' }
    expect(read(json(event))).toEqual({
      kind: 'recorded',
      of: { login: 'lunar_otter', since: 1794700115143 },
      file: 'live/lunar_otter/1794700115142.flv',
    })
    for (const change of [{ createtime: 1e300 }, { createtime: 'soon' }, { filePath: '' }])
      expect(read(json({ ...event, ...change }))).toBeUndefined()
  })

  const stream = (name: string, more: object) => ({
    app: 'live',
    name,
    status: 'publishing',
    publisher: { id: `of-${name}` },
    subscribers: 3,
    recording: false,
    ...more,
  })

  test('publishers are those that publish now; a recording is no viewer', async () => {
    const streams = [
      stream('one', {}),
      stream('two', { recording: true }),
      stream('gone', { status: 'reconnecting' }),
      stream('idle', { status: 'idle', publisher: null }),
    ]
    const answer = JSON.stringify({ success: true, data: { streams } })
    expect(await api?.publishers(async () => answer)).toEqual([
      { session: 'of-one', login: 'one', viewers: 3 },
      { session: 'of-two', login: 'two', viewers: 2 },
    ])
    const calls: string[] = []
    const call = async (url: string, method = 'GET') => {
      calls.push(`${method} ${url}`)
      return answer
    }
    await api?.kick?.(call, { session: 'of-gone', login: 'gone' })
    expect(calls).toEqual(['GET /api/v1/streams'])
    await api?.kick?.(call, { session: 'of-one', login: 'one' })
    expect(calls.at(-1)).toBe('DELETE /api/v1/sessions/of-one')
  })

  test('its API gets a token made with the secret of the configuration, or with the previous one', async () => {
    const seen: string[] = []
    const server = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch: async request => {
        const token = (request.headers.get('authorization') ?? '').replace('Bearer ', '')
        const key = Buffer.from(deriveApiSecret(hashToken('smed_old')))
        const { payload } = await jwtVerify(token, key, { algorithms: ['HS256'] }).catch(() => ({
          payload: {},
        }))
        seen.push(JSON.stringify(payload))
        return Response.json({ data: { streams: [] } }, { status: 'exp' in payload ? 200 : 401 })
      },
    })
    try {
      const row = {
        name: 'small',
        adapter: 'node-media-server',
        api_url: null,
        user_id: null,
        secret_hash: hashToken('smed_new'),
        previous_hash: hashToken('smed_old'),
        previous_until: null,
      } as const
      const url = `http://127.0.0.1:${server.port}`
      expect(await api?.publishers(createApiCall(row, url))).toEqual([])
      expect(seen.length).toBe(2)
      const failed = api?.publishers(createApiCall({ ...row, previous_hash: null }, url))
      expect(failed).rejects.toThrow('/api/v1/streams was answered with status 401')
    } finally {
      await server.stop(true)
    }
    const url = callbackUrl('http://localhost', {
      adapter: 'node-media-server',
      name: 'small',
      secret: 'smed_old',
    })
    const options = JSON.parse(writeConfiguration('node-media-server', url, null, { secret: 'smed_old' }))
    expect([options.auth.jwt.secret, options.notify.url]).toEqual([
      deriveApiSecret(hashToken('smed_old')),
      url,
    ])
  })

  test('200 and 403', () => {
    expect([ACCEPTED, NOTED, REFUSED].map(outcome => respond(outcome, {}).status)).toEqual([200, 200, 403])
  })
})

describe('generic', () => {
  const { read, respond } = adapters.generic

  test('events', () => {
    const event = { event: 'publish', session: 'a', key: 'live_1_K', address: '192.0.2.7' }
    const published = { kind: 'publish', session: 'a', name: 'live_1_K', address: '192.0.2.7' } as const
    expect(read(json(event))).toEqual(published)
    expect(read(json({ ...event, login: 'bob' }))).toEqual({ ...published, name: 'bob?key=live_1_K' })
    expect(read(json({ event: 'alive', session: 7 }))).toEqual({ kind: 'alive', session: '7' })
    expect(read(json({ event: 'end', session: 'a' }))).toEqual({ kind: 'end', session: 'a' })
    const viewer = { event: 'viewer', session: 'a', login: 'bob', viewer: 'v', watching: true }
    expect(read(json(viewer))).toEqual({ kind: 'viewer', login: 'bob', viewer: 'v', isThere: true })
    for (const wrong of [
      {},
      { event: 'publish', session: 'a' },
      { event: 'x', session: 'a' },
      { event: 'end' },
    ])
      expect(read(json(wrong))).toBeUndefined()
  })

  test('answers', () => {
    expect(respond(ACCEPTED, {})).toEqual({
      status: 200,
      json: { allowed: true, user_id: '141981764', login: 'lunar_otter' },
    })
    expect([respond(NOTED, {}), respond(REFUSED, {}), respond(GONE, {})]).toEqual([
      { status: 200, json: { allowed: true } },
      { status: 403, json: { allowed: false } },
      { status: 403, json: { allowed: false } },
    ])
  })
})

test('every configuration has the callback URL, with an address instead of localhost', () => {
  for (const { name } of Object.values(adapters)) {
    const url = callbackUrl('http://localhost:8081/', { adapter: name, name: 'edge', secret: 'smed_x' })
    expect(url).toBe(`http://127.0.0.1:8081/ingest/${name}/edge/smed_x`)
    expect(writeConfiguration(name, url, 'http://10.0.0.7:9999')).toContain(url)
    expect(writeConfiguration(name, url, null)).toContain(url)
  }
})
