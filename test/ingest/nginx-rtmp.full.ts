/** Broadcasts of ffmpeg through the real nginx-rtmp, with the configuration that `strand media add` prints. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { Encoders, hasEncoder } from '../support/encoder.ts'
import { hasNginxRtmp, NginxRtmp } from '../support/nginx-rtmp.ts'
import { freePort } from '../support/postgres.ts'
import { createStorePlace, engines, type StorePlace } from '../support/server.ts'
import { endAllProcesses, StrandProcess } from '../support/strand-process.ts'

const TOKEN = 'an-operator-token-for-these-tests'
const GRACE = 3
const USER = '1000'
const LOGIN = 'lunar_otter'

interface Stream {
  readonly id: string
  readonly viewer_count: number
}

for (const engine of hasNginxRtmp && hasEncoder ? engines : []) {
  describe(`nginx-rtmp on ${engine}`, () => {
    const encoders = new Encoders()
    let place: StorePlace
    let nginx: NginxRtmp
    let port: number
    let strand: StrandProcess
    let key: string
    let logs = ''

    const environment = () => ({
      STRAND_DATA: place.folder,
      STRAND_OPERATOR_TOKEN: TOKEN,
      STRAND_LISTEN: `127.0.0.1:${port}`,
      STRAND_RECONNECT_GRACE: String(GRACE),
      STRAND_LOG: 'debug',
      ...(place.databaseUrl !== undefined && { DATABASE_URL: place.databaseUrl }),
    })
    const startStrand = async () => {
      strand = new StrandProcess(['serve'], { environment: environment() })
      await strand.serving()
    }
    const endStrand = async (signal: 'SIGTERM' | 'SIGKILL') => {
      await strand.end(signal)
      logs += strand.stderr + strand.stdout
    }
    const control = async <T>(method: string, path: string, body?: object): Promise<T> => {
      const response = await fetch(`http://127.0.0.1:${port}/control${path}`, {
        method,
        headers: { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      })
      const text = await response.text()
      if (!response.ok) throw new Error(`${method} ${path}: ${text}`)
      return (text === '' ? undefined : JSON.parse(text).data[0]) as T
    }
    const live = async (): Promise<Stream | undefined> => {
      const response = await fetch(`http://127.0.0.1:${port}/helix/streams?user_id=${USER}`)
      return ((await response.json()) as { data: Stream[] }).data[0]
    }
    const until = async <T>(ask: () => T | Promise<T>, isRight: (value: T) => unknown): Promise<T> => {
      for (;;) {
        const value = await ask()
        if (isRight(value)) return value
        await Bun.sleep(100)
      }
    }
    /** How long Strand took to answer each callback, in milliseconds. */
    const callbackTimes = () =>
      strand.stderr
        .split('\n')
        .filter(line => line.includes('"operation":"callback"'))
        .map(line => (JSON.parse(line) as { ms: number }).ms)
    const untilLive = () => until(live, stream => stream !== undefined)
    const untilOffline = () => until(live, stream => stream === undefined)
    const publish = (name = key) => encoders.publish(`rtmp://127.0.0.1:${nginx.rtmpPort}/live/${name}`)
    const rotateKey = async () => {
      ;({ stream_key: key } = await control<{ stream_key: string }>(
        'POST',
        `/channels/${USER}/stream-key/rotate`,
        {},
      ))
    }

    beforeAll(async () => {
      await encoders.prepare()
      place = await createStorePlace(engine)
      port = await freePort()
      await startStrand()
      await control('PUT', `/users/${USER}`, { login: LOGIN })
      await rotateKey()
      const apiUrl = `http://127.0.0.1:${await freePort()}`
      const add = new StrandProcess(['media', 'add', 'nginx-rtmp', 'edge', '--api-url', apiUrl], {
        environment: environment(),
      })
      expect(await add.exit()).toBe(0)
      nginx = await NginxRtmp.prepare(add.stdout)
      nginx.start()
      await until(
        () =>
          fetch(`${apiUrl}/stat`).then(
            response => response.ok,
            () => false,
          ),
        Boolean,
      )
    }, 60_000)
    afterEach(async () => {
      await control('DELETE', `/channels/${USER}/stream`).catch(() => undefined)
    })
    afterAll(async () => {
      await encoders.remove()
      await nginx?.remove()
      await endAllProcesses()
      await place.remove()
    })

    test('strand media check finds nothing wrong', async () => {
      const check = new StrandProcess(['media', 'check', 'edge'], { environment: environment() })
      expect([await check.exit(), check.stdout]).toEqual([0, 'ok       0 publishers\n'])
    })

    test('a publisher with the key is live when nginx lets it in, and offline after the grace period', async () => {
      const encoder = publish()
      const began = performance.now()
      await untilLive()
      // This includes the start of ffmpeg; the part of Strand is in its log.
      expect(performance.now() - began).toBeLessThan(10_000)
      expect(Math.max(...callbackTimes())).toBeLessThan(1000)
      const list = `http://127.0.0.1:${nginx.hlsPort}/hls/${LOGIN}.m3u8`
      await until(
        () => fetch(list).then(response => response.status),
        status => status === 200,
      )
      encoder.kill('SIGINT')
      await encoder.exited
      const ended = performance.now()
      expect(await live()).toBeDefined()
      await untilOffline()
      expect(performance.now() - ended).toBeGreaterThan(GRACE * 1000 - 1500)
    }, 60_000)

    test('a publisher with a wrong key, or with forged arguments, is refused', async () => {
      const wrong = publish('live_1000_thisIsNotTheKeyOfThisChannel')
      const forged = publish(`${LOGIN}?key=${key}&name=${LOGIN}&call=publish_done`)
      await Promise.all([wrong.exited, forged.exited])
      expect(await live()).toBeUndefined()
    }, 60_000)

    test('a publisher may give login and key', async () => {
      const encoder = publish(`${LOGIN}?key=${key}`)
      await untilLive()
      encoder.kill('SIGINT')
    }, 60_000)

    test('a publisher that returns within the grace period continues the stream', async () => {
      const first = publish()
      const before = await untilLive()
      first.kill('SIGKILL')
      await first.exited
      const second = await until(
        async () => {
          const again = publish()
          await Promise.race([again.exited, Bun.sleep(1500)])
          return again
        },
        each => each.exitCode === null,
      )
      expect((await live())?.id).toBe(before?.id ?? '')
      second.kill('SIGINT')
    }, 60_000)

    test('a kick disconnects the publisher within seconds, and ending the stream does too', async () => {
      for (const [method, path] of [
        ['DELETE', `/channels/${USER}/publisher`],
        ['DELETE', `/channels/${USER}/stream`],
      ] as const) {
        const encoder = publish()
        await untilLive()
        await Bun.sleep(1000)
        await control(method, path)
        const kicked = performance.now()
        await encoder.exited
        expect(performance.now() - kicked).toBeLessThan(5000)
        await untilOffline()
      }
    }, 60_000)

    test('a second publisher takes over where the channel allows that', async () => {
      await control('PATCH', `/channels/${USER}`, { second_publisher: 'take_over' })
      const first = publish()
      const before = await untilLive()
      await Bun.sleep(1000)
      const second = publish()
      await first.exited
      await Bun.sleep(2000)
      expect([second.exitCode, (await live())?.id]).toEqual([null, before?.id ?? ''])
      second.kill('SIGINT')
      await second.exited
      await control('PATCH', `/channels/${USER}`, { second_publisher: 'refuse' })
      await untilOffline()
    }, 60_000)

    test('the key can be rotated during a broadcast, and its end is noticed', async () => {
      const encoder = publish()
      await untilLive()
      await rotateKey()
      encoder.kill('SIGINT')
      await untilOffline()
    }, 60_000)

    test('a broadcast continues while Strand is killed and restarted', async () => {
      const encoder = publish()
      const before = await untilLive()
      await Bun.sleep(1000)
      await endStrand('SIGKILL')
      await startStrand()
      expect((await live())?.id).toBe(before?.id ?? '')
      // Longer than a silent session and the grace period last.
      await Bun.sleep(26_000)
      expect([encoder.exitCode, (await live())?.id]).toEqual([null, before?.id ?? ''])
      encoder.kill('SIGINT')
      await untilOffline()
    }, 90_000)

    test('a broadcast that ends while Strand is down is offline soon after it is back', async () => {
      const encoder = publish()
      await untilLive()
      await Bun.sleep(1000)
      await endStrand('SIGTERM')
      encoder.kill('SIGINT')
      await encoder.exited
      await startStrand()
      await untilOffline()
    }, 60_000)

    test('viewers are counted', async () => {
      const encoder = publish()
      await untilLive()
      const viewer = Bun.spawn(
        [
          process.env.TEST_FFMPEG ?? '',
          '-loglevel',
          'error',
          '-i',
          `rtmp://127.0.0.1:${nginx.rtmpPort}/show/${LOGIN}`,
          '-f',
          'null',
          '-',
        ],
        { stdin: 'ignore', stdout: 'ignore', stderr: 'ignore' },
      )
      await until(live, stream => stream?.viewer_count === 1)
      viewer.kill('SIGKILL')
      await viewer.exited
      await until(live, stream => stream?.viewer_count === 0)
      encoder.kill('SIGINT')
      await encoder.exited
    }, 60_000)

    test('keys and secrets are in no file, log, page or metric', async () => {
      const encoder = publish()
      await untilLive()
      await Bun.sleep(3000)
      const secret =
        /smed_[A-Za-z0-9]{38}/.exec(readFileSync(`${nginx.folder}/nginx.conf`, 'utf8'))?.[0] ?? ''
      const metrics = await fetch(`http://127.0.0.1:${port}/metrics`).then(response => response.text())
      encoder.kill('SIGINT')
      await encoder.exited
      const processes = Bun.spawnSync(['ps', 'axww', '-o', 'args']).stdout.toString()
      logs += strand.stderr + strand.stdout
      for (const text of [nginx.written(), logs, metrics, processes]) {
        expect(text.match(/live_1000_[A-Za-z0-9]{30}/g) ?? []).toEqual([])
        expect(text).not.toContain(secret)
      }
      expect(nginx.written()).toContain(LOGIN)
    }, 60_000)
  })
}
