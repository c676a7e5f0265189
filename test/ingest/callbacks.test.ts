/** Callbacks of media servers over HTTP, as they arrive at a server. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { onEachStore } from '../support/server/each-store.ts'
import type { TestServer } from '../support/server.ts'
import { FakeNginx } from './media-api.ts'

const GRACE = 1
const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' }

interface Row {
  readonly id: string
  readonly viewer_count: number
}

onEachStore('callbacks of media servers', { config: { reconnectGraceSeconds: GRACE } }, (current, engine) => {
  const nginx = new FakeNginx()
  const secrets = new Map<string, string>()
  let users = 0

  const add = async (name: string, adapter: string, more: object = {}): Promise<void> => {
    const [{ secret }] = (await current().control('PUT', `/media-servers/${name}`, { adapter, ...more })) as [
      { secret: string },
    ]
    secrets.set(name, secret)
  }
  beforeAll(async () => {
    await add('edge', 'nginx-rtmp', { api_url: nginx.url })
    await add('mtx', 'mediamtx')
    await add('srs', 'srs')
    await add('nms', 'node-media-server')
    await add('any', 'generic')
  })
  afterAll(() => nginx.stop())

  const secretOf = (name: string): string => secrets.get(name) ?? ''
  const newChannel = async (): Promise<{ id: string; login: string; key: string }> => {
    const login = `broadcaster_${engine}_${++users}`
    const [{ id }] = (await current().control('POST', '/users', { login })) as [{ id: string }]
    const [{ stream_key: key }] = (await current().control(
      'POST',
      `/channels/${id}/stream-key/rotate`,
      {},
    )) as [{ stream_key: string }]
    return { id, login, key }
  }
  const live = async ({ strand }: TestServer, user_id: string): Promise<Row | undefined> => {
    const stream = await strand.services.store.streams.of(user_id)
    return stream && { id: stream.id, viewer_count: stream.viewer_count }
  }
  const until = async <T>(ask: () => Promise<T>, isRight: (value: T) => boolean): Promise<T> => {
    for (;;) {
      const value = await ask()
      if (isRight(value)) return value
      await Bun.sleep(50)
    }
  }
  const post = (path: string, body: string, headers: Record<string, string> = FORM) =>
    fetch(`${current().url}/ingest/${path}`, { method: 'POST', body, headers, redirect: 'manual' })
  const postJson = (name: string, adapter: string, body: object, type = 'application/json') =>
    post(`${adapter}/${name}/${secretOf(name)}`, JSON.stringify(body), { 'Content-Type': type })
  const event = (call: string, clientid: string, name: string, more = '') =>
    `app=live&flashver=&swfurl=&tcurl=&pageurl=&addr=192.0.2.7&clientid=${clientid}&call=${call}&name=${name}${more}`
  const toNginx = (body: string) => post(`nginx-rtmp/edge/${secretOf('edge')}`, body)
  /** What the API of nginx shows from now on. */
  const publishes = (session: string, login: string) => {
    nginx.publishers = [...nginx.publishers, { session, login }]
  }
  const vanishes = (gone: string) => {
    nginx.publishers = nginx.publishers.filter(({ login }) => login !== gone)
  }
  const untilOffline = (user_id: string) =>
    until(
      () => live(current(), user_id),
      row => row === undefined,
    )
  /** Waits until a broadcast that ends now is offline: one that was ended before is offline by then. */
  const untilEndsShow = async () => {
    const { id, key } = await newChannel()
    const session = `last-${id}`
    expect((await postJson('any', 'generic', { event: 'publish', session, key })).status).toBe(200)
    await postJson('any', 'generic', { event: 'end', session })
    await untilOffline(id)
  }

  describe('nginx-rtmp', () => {
    test.concurrent('302 with the login to a publisher with the key, who is live at once and offline after the end', async () => {
      const { id, login, key } = await newChannel()
      publishes('1', login)
      const response = await toNginx(event('publish', '1', key, '&type=live'))
      expect([response.status, response.headers.get('location')]).toEqual([302, login])
      expect(await live(current(), id)).toBeDefined()
      vanishes(login)
      expect((await toNginx(event('publish_done', '1', key))).status).toBe(200)
      await untilOffline(id)
    })

    test.concurrent('200 to the end of a recording, which completes its session', async () => {
      const { id, login, key } = await newChannel()
      publishes('3', login)
      await toNginx(event('publish', '3', key))
      const unrecorded = async () => {
        const { mediaServers } = current().strand.services.store
        const sessions = await mediaServers.unrecordedSessionsOf('nginx-rtmp', 'edge')
        return sessions.some(({ session }) => session === '3')
      }
      expect(await unrecorded()).toBe(true)
      const response = await toNginx(event('record_done', '3', key, '&recorder=&path=/srv/a.flv'))
      expect(response.status).toBe(200)
      // The answer waits a short time only for the store.
      while (await unrecorded()) await Bun.sleep(10)
      vanishes(login)
      await toNginx(event('publish_done', '3', key))
      expect(await live(current(), id)).toBeDefined()
    })

    test.concurrent('403 to a wrong key and to forged arguments, and nothing is live', async () => {
      const { id, login, key } = await newChannel()
      const forged = event('publish', '2', login, `&type=live&key=${key}&clientid=9`)
      for (const body of [event('publish', '2', 'live_1_wrong'), forged])
        expect((await toNginx(body)).status).toBe(403)
      expect(await live(current(), id)).toBeUndefined()
    })

    test.concurrent('403 to a second publisher, whose end does not stop the first', async () => {
      const { id, key, login } = await newChannel()
      publishes('10', login)
      expect((await toNginx(event('publish', '10', key))).status).toBe(302)
      expect((await toNginx(event('publish', '11', key))).status).toBe(403)
      await toNginx(event('publish_done', '11', key))
      await untilEndsShow()
      expect(await live(current(), id)).toBeDefined()
      vanishes(login)
    })

    test.concurrent('HTTP/1.0 over a socket, as nginx sends it', async () => {
      const { id, login, key } = await newChannel()
      publishes('20', login)
      const body = event('publish', '20', key, '&type=live')
      const { port } = new URL(current().url)
      const head = [
        `POST /ingest/nginx-rtmp/edge/${secretOf('edge')} HTTP/1.0`,
        'Host: 127.0.0.1',
        'Content-Type: application/x-www-form-urlencoded',
        'Connection: Close',
        `Content-Length: ${body.length}`,
      ]
      const answer = await exchange(Number(port), `${head.join('\r\n')}\r\n\r\n${body}`)
      expect(answer.slice(9, 12)).toBe('302')
      expect(answer.toLowerCase()).toContain(`\r\nlocation: ${login}\r\n`)
      expect(answer.length).toBeLessThan(1024)
      expect(await live(current(), id)).toBeDefined()
      vanishes(login)
    })

    test.concurrent('GET with everything in the query string, and the secret as a parameter', async () => {
      const { id, login, key } = await newChannel()
      publishes('30', login)
      const query = `secret=${secretOf('edge')}&${event('publish', '30', key)}`
      const response = await fetch(`${current().url}/ingest/nginx-rtmp/edge?${query}`, { redirect: 'manual' })
      expect([response.status, await live(current(), id)]).toEqual([302, expect.anything()])
      vanishes(login)
    })

    test.concurrent('the end of a broadcast whose key was rotated is recognized by the client id', async () => {
      const { id, login, key } = await newChannel()
      publishes('40', login)
      await toNginx(event('publish', '40', key))
      expect(await live(current(), id)).toBeDefined()
      await current().control('POST', `/channels/${id}/stream-key/rotate`, {})
      vanishes(login)
      expect((await toNginx(event('publish_done', '40', key))).status).toBe(200)
      await untilOffline(id)
    })
  })

  describe('the secret', () => {
    test('a rotated secret is valid beside the new one for the grace period', async () => {
      await add('turning', 'generic')
      const old = secretOf('turning')
      const rotate = async (grace_seconds: number): Promise<string> => {
        const [{ secret }] = (await current().control('POST', '/media-servers/turning/rotate-secret', {
          grace_seconds,
        })) as [{ secret: string }]
        return secret
      }
      const status = async (secret: string) =>
        (await post(`generic/turning/${secret}`, '{"event":"end","session":"x"}', {})).status
      const untilKnown = (secret: string) =>
        until(
          () => status(secret),
          each => each === 200,
        )
      const second = await rotate(600)
      await untilKnown(second)
      expect(await status(old)).toBe(200)
      const third = await rotate(0)
      await untilKnown(third)
      expect([await status(second), await status(old)]).toEqual([403, 403])
    })

    test('403 without detail to a wrong secret, server or adapter, and none of it is logged', async () => {
      const { key } = await newChannel()
      for (const path of [
        'nginx-rtmp/edge/smed_wrong',
        'nginx-rtmp/edge',
        `nginx-rtmp/nowhere/${secretOf('edge')}`,
        `srs/edge/${secretOf('edge')}`,
        `nothing/edge/${secretOf('edge')}`,
        'x',
        '',
      ]) {
        const response = await post(path, event('publish', '50', key))
        expect([path, response.status, await response.text()]).toEqual([path, 403, ''])
      }
      for (let count = 0; count < 50; count++) await post('nginx-rtmp/edge/smed_wrong', 'call=publish')
      expect((await toNginx(event('publish', '51', 'wrong'))).status).toBe(403)
      const log = current().logLines.join('\n')
      expect(log).toContain('wrong secret')
      expect(log).not.toContain('smed_')
      expect(log).not.toContain(key)
      expect(current().logLines.filter(line => line.includes('wrong secret')).length).toBeLessThan(20)
    })

    test('400 and 413 to what cannot be read', async () => {
      const path = `generic/any/${secretOf('any')}`
      for (const body of [
        '',
        '[]',
        '{',
        'null',
        '{"event":"publish"}',
        '{"event":"end","session":"a\\u0000b"}',
      ])
        expect([body, (await post(path, body, {})).status]).toEqual([body, 400])
      expect((await post(path, `{"a":"${'x'.repeat(70_000)}"}`, {})).status).toBe(413)
      const long = { event: 'end', session: 'x'.repeat(300) }
      expect((await postJson('any', 'generic', long)).status).toBe(400)
      expect((await fetch(`${current().url}/ingest/${path}`, { method: 'PUT' })).status).toBe(405)
    })
  })

  describe('the other media servers', () => {
    test.concurrent('MediaMTX: 200 and live, or 401', async () => {
      const { id, login, key } = await newChannel()
      const asked = {
        action: 'publish',
        path: `live/${login}`,
        id: `mtx-${id}`,
        ip: '192.0.2.8',
        query: `token=${key}`,
      }
      expect((await postJson('mtx', 'mediamtx', { ...asked, query: 'token=wrong' })).status).toBe(401)
      expect((await postJson('mtx', 'mediamtx', { ...asked, path: `live/${key}`, query: '' })).status).toBe(
        401,
      )
      expect((await postJson('mtx', 'mediamtx', { ...asked, action: 'read' })).status).toBe(200)
      expect(await live(current(), id)).toBeUndefined()
      expect((await postJson('mtx', 'mediamtx', asked)).status).toBe(200)
      expect(await live(current(), id)).toBeDefined()
    })

    test.concurrent('SRS: a code in the body', async () => {
      const { id, login, key } = await newChannel()
      const asked = {
        action: 'on_publish',
        client_id: `c-${id}`,
        ip: '192.0.2.8',
        stream: login,
        param: `?key=${key}`,
      }
      const response = await postJson('srs', 'srs', asked)
      expect([response.status, await response.json()]).toEqual([200, { code: 0, data: null }])
      expect(await live(current(), id)).toBeDefined()
    })

    test.concurrent('node-media-server: JSON as text/plain', async () => {
      const { id, login, key } = await newChannel()
      const asked = {
        action: 'prePublish',
        id: `n-${id}`,
        ip: '192.0.2.8:47626',
        name: login,
        query: { key },
      }
      const type = 'text/plain;charset=UTF-8'
      expect((await postJson('nms', 'node-media-server', { ...asked, query: {} }, type)).status).toBe(403)
      expect((await postJson('nms', 'node-media-server', asked, type)).status).toBe(200)
      expect(await live(current(), id)).toBeDefined()
    })

    test.concurrent('a recording is attached to the video of its session or of its time; 307 to where the media server has it', async () => {
      const { id, login, key } = await newChannel()
      const videoOf = async () => {
        const [video] = (await current().control('GET', `/videos?user_id=${id}`)) as [{ id: string }]
        return fetch(`${current().url}/videos/${video.id}.mp4`, { redirect: 'manual' })
      }
      const session = `r-${id}`
      const nginxPath = (url: string) =>
        `nginx-rtmp/edge/${secretOf('edge')}?recordings=${encodeURIComponent(url)}`
      const recorded = (url: string, file: string) =>
        post(nginxPath(url), event('record_done', session, key, `&recorder=&path=/srv/rec/${file}`))
      await toNginx(event('publish', session, key))
      await toNginx(event('publish_done', session, key))
      for (const wrong of ['', 'file:///etc', 'nowhere'])
        expect((await recorded(wrong, 'a.flv')).status).toBe(200)
      expect((await videoOf()).status).toBe(404)
      await recorded('http://media.example:8090/recordings/', `${login}-1.flv`)
      // After a reconnect nginx begins another file.
      await recorded('http://media.example:8090/recordings/', `${login}-2.flv`)
      const nginxAnswer = await videoOf()
      expect([nginxAnswer.status, nginxAnswer.headers.get('location')]).toEqual([
        307,
        `http://media.example:8090/recordings/${login}-1.flv`,
      ])

      const other = await newChannel()
      const began = Date.now()
      const node = (action: string, more: object = {}) =>
        post(
          `node-media-server/nms/${secretOf('nms')}?recordings=https://media.example/rec`,
          JSON.stringify({
            id: `n-${other.id}`,
            ip: '192.0.2.8:1',
            app: 'live',
            name: other.login,
            action,
            ...more,
          }),
          { 'Content-Type': 'text/plain;charset=UTF-8' },
        )
      expect((await node('prePublish', { query: { key: other.key } })).status).toBe(200)
      const done = (createtime: number) =>
        node('doneRecord', { createtime, filePath: '/srv/rec/live/x/7.flv' })
      const location = async () => {
        const [video] = (await current().control('GET', `/videos?user_id=${other.id}`)) as [{ id: string }]
        const response = await fetch(`${current().url}/videos/${video.id}.mp4`, { redirect: 'manual' })
        return response.headers.get('location')
      }
      await done(began - 3_600_000)
      expect(await location()).toBeNull()
      await done(began)
      expect(await location()).toBe(`https://media.example/rec/live/${other.login}/7.flv`)
    })

    test.concurrent('generic: application/webhook+json, a kick as the answer to alive, and viewers', async () => {
      const { id, login, key } = await newChannel()
      const session = `g-${id}`
      const send = (body: object) =>
        postJson('any', 'generic', { session, ...body }, 'application/webhook+json')
      const response = await send({ event: 'publish', key })
      expect(await response.json()).toEqual({ allowed: true, user_id: id, login })
      expect((await send({ event: 'alive' })).status).toBe(200)
      for (const viewer of ['a', 'b', 'b', 'c'])
        await send({ event: 'viewer', login, viewer, watching: true })
      await send({ event: 'viewer', login, viewer: 'c', watching: false })
      await until(
        () => live(current(), id),
        row => row?.viewer_count === 2,
      )
      await current().control('DELETE', `/channels/${id}/publisher`)
      expect((await send({ event: 'alive' })).status).toBe(403)
    })

    test.concurrent('a media server without an API that has lost an end lets the next publisher in', async () => {
      const { id, key } = await newChannel()
      const publish = (session: string) => postJson('any', 'generic', { event: 'publish', session, key })
      expect((await publish(`first-${id}`)).status).toBe(200)
      expect((await publish(`second-${id}`)).status).toBe(200)
      await postJson('any', 'generic', { event: 'end', session: `first-${id}` })
      await untilEndsShow()
      expect(await live(current(), id)).toBeDefined()
    })
  })

  test('1,000 channels that go live within a second are all visible', async () => {
    const { streamKeys } = current().strand.services
    const channels = Array.from({ length: 1000 }, (_, index) => ({
      id: String(50_000 + index),
      login: `crowd_${index}`,
      key: streamKeys.mint(String(50_000 + index), 1).key,
    }))
    const lines = channels.map(({ id, login, key }) =>
      JSON.stringify({ type: 'user', id, login, stream_key: key }),
    )
    const imported = await current().call({
      method: 'POST',
      path: '/control/import',
      rawBody: lines.join('\n'),
      token: current().world.operator_token,
    })
    expect(imported.text).toContain('"summary"')
    nginx.publishers = channels.map(({ id, login }) => ({ session: id, login }))
    const began = performance.now()
    const statuses = await Promise.all(
      channels.map(async ({ id, key }) => (await toNginx(event('publish', id, key))).status),
    )
    expect(new Set(statuses)).toEqual(new Set([302]))
    // A store that is too slow for a session per millisecond opens some of them afterwards.
    for (const { id } of channels)
      await until(
        () => live(current(), id),
        row => row !== undefined,
      )
    expect(performance.now() - began).toBeLessThan(60_000)
    nginx.publishers = []
  })
})

function exchange(port: number, text: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  let answer = ''
  const socket = connect(port, '127.0.0.1', () => socket.write(text))
  socket.on('data', piece => {
    answer += piece.toString()
  })
  socket.on('close', () => resolve(answer))
  socket.on('error', reject)
  return promise
}
