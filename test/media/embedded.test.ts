import { describe, expect, test } from 'bun:test'
import { openEmbeddedMedia } from '../../src/ingest/open-embedded.ts'
import { Lifetime } from '../../src/kit/lifetime.ts'
import { LiveChannels } from '../../src/media/live-channels.ts'
import { AVC } from '../support/media/codecs.ts'
import { TestPublisher } from '../support/media/hls.ts'
import { RtmpClient } from '../support/media/rtmp-client.ts'
import { onEachStore } from '../support/server/each-store.ts'
import type { TestServer } from '../support/server.ts'

const GRACE = 2
const config = { rtmpListen: { host: '127.0.0.1', port: 0 }, reconnectGraceSeconds: GRACE }

interface Row {
  readonly id: string
  readonly viewer_count: number
}

onEachStore('the embedded media server', { config }, (current, engine) => {
  const liveRow = async (server: TestServer, user_id: string): Promise<Row | undefined> => {
    const response = await fetch(`${server.url}/helix/streams?user_id=${user_id}`)
    return ((await response.json()) as { data: Row[] }).data[0]
  }
  /** Asks until the answer is as expected; the time limit is that of the test. */
  const until = async <T>(ask: () => Promise<T>, isRight: (value: T) => boolean): Promise<T> => {
    for (;;) {
      const value = await ask()
      if (isRight(value)) return value
      await Bun.sleep(20)
    }
  }
  const keyOf = async (
    { url }: TestServer,
    { id, token }: { id: string; token: string },
  ): Promise<string> => {
    const response = await fetch(`${url}/helix/streams/key?broadcaster_id=${id}`, {
      headers: { Authorization: `Bearer ${token}` },
    })
    return ((await response.json()) as { data: { stream_key: string }[] }).data[0]?.stream_key ?? ''
  }
  const publishing = async (name: string): Promise<{ client: RtmpClient; code: string | undefined }> => {
    const client = await RtmpClient.connect(current().strand.rtmpPort ?? 0)
    return { client, code: await client.publish(name) }
  }

  describe('a publisher', () => {
    test('with the stream key makes the channel live, and is taken off the air after the grace period', async () => {
      const server = current()
      const { offline } = server.world
      const { client, code } = await publishing(await keyOf(server, offline))
      expect(code).toBe('NetStream.Publish.Start')
      expect(await liveRow(server, offline.id)).toMatchObject({ user_id: offline.id, type: 'live' })
      const stoppedAt = performance.now()
      client.close()
      await until(
        () => liveRow(server, offline.id),
        row => row === undefined,
      )
      expect(performance.now() - stoppedAt).toBeGreaterThan(GRACE * 1000 - 50)
    })

    test('may give a login and the key, and not the login of another', async () => {
      const server = current()
      const { offline } = server.world
      const key = await keyOf(server, offline)
      const { login } = server.world.users.find(user => user.id === offline.id) ?? { login: '' }
      expect((await publishing(`${server.world.broadcaster.login}?key=${key}`)).code).toBe(
        'NetStream.Publish.BadName',
      )
      const { client, code } = await publishing(`${login}?key=${key}`)
      expect(code).toBe('NetStream.Publish.Start')
      client.close()
    })

    test('with a wrong key is refused and disconnected, and the key is in no log line', async () => {
      const server = current()
      const { client, code } = await publishing('live_1_thisIsNotAStreamKeyOfAnyChannel')
      expect(code).toBe('NetStream.Publish.BadName')
      await client.closed()
      expect(server.logLines.join('')).not.toContain('thisIsNotAStreamKey')
    })

    test('may use a replaced key until its grace ends, and the new one at once', async () => {
      const server = current()
      const { broadcaster } = server.world
      const old = await keyOf(server, broadcaster)
      const rotate = async (grace_seconds: number): Promise<string> => {
        const path = `/channels/${broadcaster.id}/stream-key/rotate`
        const [{ stream_key }] = await server.control('POST', path, { grace_seconds })
        return stream_key
      }
      const codeOf = async (key: string) => {
        const { client, code } = await publishing(key)
        client.close()
        await client.closed()
        return code
      }
      const fresh = await rotate(60)
      // The channel has one publisher at a time, so each is heard after the one before it is gone.
      for (const key of [old, fresh])
        await until(
          () => codeOf(key),
          code => code === 'NetStream.Publish.Start',
        )
      await server.control('POST', '/clock', { advance_seconds: 61 })
      expect(await codeOf(old)).toBe('NetStream.Publish.BadName')
      await until(
        () => codeOf(fresh),
        code => code === 'NetStream.Publish.Start',
      )
      const last = await rotate(0)
      expect(await codeOf(fresh)).toBe('NetStream.Publish.BadName')
      await until(
        () => codeOf(last),
        code => code === 'NetStream.Publish.Start',
      )
    })

    test('may use an extra key until it expires or is deleted, which interrupts no broadcast', async () => {
      const server = current()
      const { id } = await server.control('POST', '/users', { login: 'guest_host' }).then(([user]) => user)
      const add = async (name: string, valid_until?: string): Promise<string> => {
        const [row] = await server.control('POST', `/channels/${id}/stream-keys`, { name, valid_until })
        return row.stream_key
      }
      const guest = await add('guest', new Date(server.strand.services.clock.now() + 3_600_000).toISOString())
      const second = await add('second')
      const first = await publishing(`guest_host?key=${guest}`)
      expect(first.code).toBe('NetStream.Publish.Start')
      await server.control('DELETE', `/channels/${id}/stream-keys/second`)
      expect((await publishing(second)).code).toBe('NetStream.Publish.BadName')
      expect(first.client.isClosed).toBe(false)
      first.client.close()
      await server.control('POST', '/clock', { advance_seconds: 3601 })
      expect((await publishing(guest)).code).toBe('NetStream.Publish.BadName')
      const log = server.logLines.join('')
      expect(log).not.toContain(guest.slice(-30))
      expect(log).not.toContain(second.slice(-30))
    })

    test('that returns within the grace period continues the same stream', async () => {
      const server = current()
      const { offline } = server.world
      const key = await keyOf(server, offline)
      const first = await publishing(key)
      const before = await liveRow(server, offline.id)
      first.client.close()
      const second = await until(
        () => publishing(key),
        ({ code }) => code === 'NetStream.Publish.Start',
      )
      expect((await liveRow(server, offline.id))?.id).toBe(before?.id ?? 'live')
      second.client.close()
    })

    test('stays live when the clock is set forward, and a second one is still refused', async () => {
      const server = current()
      const [{ id }] = await server.control('POST', '/users', { login: 'time_traveller' })
      const [{ stream_key }] = await server.control('GET', `/channels/${id}/stream-key`)
      const { client } = await publishing(stream_key)
      const before = await liveRow(server, id)
      const advance = () => server.control('POST', '/clock', { advance_seconds: 3600 })
      client.video(0, AVC.keyFrame())
      await advance()
      // Long enough for the search for silent publishers.
      await Bun.sleep(1500)
      expect([(await liveRow(server, id))?.id, client.isClosed]).toEqual([before?.id, false])
      await advance()
      expect((await publishing(stream_key)).code).toBe('NetStream.Publish.BadName')
      client.close()
    })

    test.if(engine === 'postgres')(
      'stays when another node of the host starts, also on any port',
      async () => {
        const server = current()
        const { services } = server.strand
        const { client } = await publishing(await keyOf(server, server.world.offline))
        const lifetime = new Lifetime()
        const listen = { host: '127.0.0.1', port: 0 }
        const channels = new LiveChannels()
        await openEmbeddedMedia(
          { listen, services, channels, recordings: undefined, thumbnails: undefined, isProxy: () => false },
          lifetime,
        )
        expect(await services.store.mediaServers.liveSessionOf(server.world.offline.id)).toBeDefined()
        await lifetime.close()
        client.close()
      },
    )

    test('beside another one of the channel is refused', async () => {
      const server = current()
      const { editor } = server.world
      const key = await keyOf(server, editor)
      const first = await publishing(key)
      expect(first.code).toBe('NetStream.Publish.Start')
      expect((await publishing(key)).code).toBe('NetStream.Publish.BadName')
      expect(await liveRow(server, editor.id)).toBeDefined()
      first.client.close()
    })
  })

  describe('a viewer', () => {
    test('finds a broadcast under the login that its user has now', async () => {
      const server = current()
      const [{ id }] = await server.control('POST', '/users', { login: 'first_login' })
      const [{ stream_key }] = await server.control('POST', `/channels/${id}/stream-key/rotate`, {})
      const { client } = await publishing(stream_key)
      new TestPublisher(client).send(1)
      const statusOf = async (login: string) =>
        (await fetch(`${server.url}/live/${login}.m3u8`, { method: 'HEAD' })).status
      const becomes = (login: string, status: number) =>
        until(
          () => statusOf(login),
          found => found === status,
        )
      await becomes('first_login', 200)
      await server.control('PUT', `/users/${id}`, { login: 'second_login' })
      await becomes('second_login', 200)
      expect(await statusOf('first_login')).not.toBe(200)
      client.close()
      await until(
        () => statusOf('second_login'),
        found => found !== 200,
      )
    }, 15_000)

    test('404 of a channel that is not live, and of other paths', async () => {
      const { url, world } = current()
      for (const path of [
        '/live/nobody_here.m3u8',
        '/live/nobody_here.flv',
        '/live/x',
        `/live/${world.broadcaster.login}`,
        '/live/',
      ]) {
        const response = await fetch(url + path)
        expect([path, response.status]).toEqual([path, 404])
        expect(await response.json()).toMatchObject({ error: 'Not Found', status: 404 })
      }
    })
  })

  test('what is not RTMP is disconnected, and others do not notice', async () => {
    const server = current()
    for (const bytes of [Buffer.from('GET / HTTP/1.1\r\n\r\n'), Buffer.alloc(5000, 0xff)]) {
      const client = await RtmpClient.connect(server.strand.rtmpPort ?? 0)
      client.send(bytes)
      await client.closed()
    }
    const bomb = await RtmpClient.connect(server.strand.rtmpPort ?? 0)
    bomb.send(Buffer.concat([Buffer.from([3]), Buffer.alloc(2 * 1536)]))
    bomb.send(Buffer.from([3, 0, 0, 0, 0xff, 0xff, 0xff, 20, 0, 0, 0, 0]))
    await bomb.closed()
    const idle = await Promise.all(
      Array.from({ length: 60 }, () => RtmpClient.connect(server.strand.rtmpPort ?? 0)),
    )
    await until(
      async () => idle.filter(({ isClosed }) => isClosed).length,
      closed => closed >= 10,
    )
    expect(idle.filter(({ isClosed }) => !isClosed).length).toBeGreaterThan(0)
    for (const client of idle) client.close()
  })
})
