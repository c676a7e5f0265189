/** Broadcasts of ffmpeg through the real nginx-rtmp, with the configuration that `strand media add` prints. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { nginxRtmp } from '../../src/ingest/adapters/nginx-rtmp.ts'
import { ShiftedClock } from '../support/cli/shifted-clock.ts'
import { Encoders, endsAtMarker, hasEncoder, pictureTimes } from '../support/media/encoder.ts'
import { answers, type LiveChannel, LiveStrand, until } from '../support/media/live-strand.ts'
import { hasNginxRtmp, NginxRtmp } from '../support/media/nginx-rtmp.ts'
import { engines } from '../support/server.ts'
import { freePort } from '../support/store/postgres.ts'

/** Long enough for an encoder to return on a busy machine. */
const GRACE = 6

/** On one store, because callbacks.test.ts proves on both what depends on the store. */
for (const engine of hasNginxRtmp && hasEncoder ? engines.slice(0, 1) : []) {
  describe(`nginx-rtmp on ${engine}`, () => {
    const encoders = new Encoders()
    let nginx: NginxRtmp
    let strand: LiveStrand
    let apiUrl: string
    let channel: LiveChannel
    const channels: LiveChannel[] = []

    const newChannel = async () => {
      const number = channels.length
      const made = await strand.channel(String(1000 + number), `lunar_otter_${number}`)
      channels.push(made)
      return made
    }
    const publish = (name: string, application = 'live') =>
      encoders.publish(`rtmp://127.0.0.1:${nginx.rtmpPort}/${application}/${name}`)
    /** The session of the publisher, as nginx has it. */
    const sessionOf = async ({ login }: LiveChannel) => {
      const publishers = await nginxRtmp.api?.publishers(async path => (await fetch(apiUrl + path)).text())
      return publishers?.find(each => each.login === login)?.session
    }
    const untilPublishing = (each: LiveChannel) => until(() => sessionOf(each), Boolean)
    /** A publisher that nginx lets in: right after the end of another one it may still refuse. */
    const publishAgain = async (to: LiveChannel, name = to.key) => {
      await until(
        () => sessionOf(to),
        session => session === undefined,
      )
      return until(
        async () => {
          const again = publish(name)
          await until(
            () => sessionOf(to),
            session => session !== undefined || again.exitCode !== null,
          )
          return again
        },
        each => each.exitCode === null,
      )
    }
    const check = (...words: string[]) => strand.command('media', 'check', 'edge', ...words)

    beforeAll(async () => {
      await encoders.prepare()
      strand = await LiveStrand.start(engine, GRACE)
      channel = await newChannel()
      const [apiPort, hlsPort] = [await freePort(), await freePort()]
      apiUrl = `http://127.0.0.1:${apiPort}`
      const more = ['--api-url', apiUrl, '--recordings-url', `http://127.0.0.1:${hlsPort}/recordings`]
      const added = await strand.command('media', 'add', 'nginx-rtmp', 'edge', ...more)
      expect(added.code).toBe(0)
      nginx = await NginxRtmp.prepare(added.stdout, hlsPort)
      nginx.start()
      await until(() => answers(`${apiUrl}/stat`), Boolean)
    })
    afterAll(async () => {
      await encoders.remove()
      await nginx?.remove()
      await strand?.remove()
    })

    test('strand media check finds nothing wrong, or names what is', async () => {
      const right = { code: 0, stdout: 'ok       0 publishers\n' }
      expect(await check()).toMatchObject(right)
      expect(await check('--configuration', nginx.configurationFile)).toMatchObject(right)
      const configuration = readFileSync(nginx.configurationFile, 'utf8')
      const changed = join(nginx.folder, 'changed.conf')
      writeFileSync(changed, configuration.replaceAll(/smed_\w+/g, 'smed_wrong'))
      const secret = await check('--configuration', changed)
      expect([secret.code, secret.stdout]).toEqual([
        1,
        expect.stringMatching(/^problem .*refuses the secret.*\nok .*0 publishers\n$/),
      ])
      const away = await strand.command(
        'media',
        'add',
        'nginx-rtmp',
        'away',
        '--api-url',
        'http://127.0.0.1:1',
      )
      expect(away.code).toBe(0)
      const unreachable = await strand.command('media', 'check', 'away')
      expect([unreachable.code, unreachable.stdout]).toEqual([1, expect.stringContaining('cannot be used')])
      await strand.command('media', 'remove', 'away', '--yes')
    })

    test.if(Boolean(process.env.TEST_CC))('strand media check finds a clock that differs', async () => {
      const clock = await ShiftedClock.create()
      try {
        clock.set(40_000)
        const { code, stdout } = await strand.commandIn(clock.environment, 'media', 'check', 'edge')
        expect([code, stdout]).toEqual([1, expect.stringMatching(/its clock differs by (39|40|41) s/)])
      } finally {
        clock.remove()
      }
    })

    test('a publisher with the key is live when nginx lets it in, and offline after the grace period', async () => {
      const channel = await newChannel()
      const encoder = publish(channel.key)
      const began = performance.now()
      await channel.untilLive()
      // This includes the start of ffmpeg; the part of Strand is in its log.
      expect(performance.now() - began).toBeLessThan(10_000)
      expect(Math.max(...strand.callbackTimes())).toBeLessThan(1000)
      // Two fragments of two seconds: long enough to search in.
      const list = `http://127.0.0.1:${nginx.hlsPort}/hls/${channel.login}.m3u8`
      await until(
        async () => (await fetch(list)).text(),
        text => text.split('.ts\n').length > 2,
      )
      const asked = performance.now()
      const position = await channel.mark()
      encoder.kill('SIGINT')
      await encoder.exited
      const ended = performance.now()
      expect(await channel.stream()).toBeDefined()
      await channel.untilOffline()
      expect(performance.now() - ended).toBeGreaterThan(GRACE * 1000 - 1500)
      const { id } = await channel.video()
      const recording = `${strand.url}/videos/${id}.mp4`
      const times = pictureTimes(recording)
      expect(endsAtMarker(times, position, (ended - asked) / 1000)).toBe(true)
      const later = pictureTimes(recording, 2)
      expect(later.length).toBeLessThan(times.length)
      expect(Math.abs((later[0] ?? 0) - 2)).toBeLessThan(1.5)
      const part = await fetch(recording, { headers: { Range: 'bytes=0-2' } })
      expect([part.status, await part.text()]).toEqual([206, 'FLV'])
    })

    test('a publisher with a wrong key, or with forged arguments, is refused', async () => {
      const channel = await newChannel()
      const wrong = publish(`live_${channel.id}_thisIsNotTheKeyOfThisChannel`)
      const forged = publish(`${channel.loginWithKey}&name=${channel.login}&call=publish_done`)
      await Promise.all([wrong.exited, forged.exited])
      expect(await channel.stream()).toBeUndefined()
    })

    test('a publisher may give login and key', async () => {
      const channel = await newChannel()
      const encoder = publish(channel.loginWithKey)
      expect((await channel.untilLive()).user_id).toBe(channel.id)
      encoder.kill('SIGINT')
    })

    test('a publisher that returns within the grace period continues the stream and its video', async () => {
      const channel = await newChannel()
      const first = publish(channel.key)
      const before = await channel.untilLive()
      const { id } = await channel.video()
      first.kill('SIGKILL')
      await first.exited
      const second = await publishAgain(channel)
      expect((await channel.stream())?.id).toBe(before.id)
      expect((await channel.video()).id).toBe(id)
      second.kill('SIGINT')
    })

    test('a kick disconnects the publisher within seconds, and ending the stream does too', async () => {
      const channel = await newChannel()
      for (const [method, path] of [
        ['DELETE', `/channels/${channel.id}/publisher`],
        ['DELETE', `/channels/${channel.id}/stream`],
      ] as const) {
        const encoder = await publishAgain(channel)
        await channel.untilLive()
        await strand.control(method, path)
        const kicked = performance.now()
        await encoder.exited
        expect(performance.now() - kicked).toBeLessThan(5000)
        await channel.untilOffline()
      }
    })

    test('a second publisher is refused, or takes over where the channel allows that', async () => {
      const channel = await newChannel()
      const first = publish(channel.key)
      const before = await channel.untilLive()
      const session = await untilPublishing(channel)
      await publish(channel.key).exited
      expect([first.exitCode, (await channel.stream())?.id]).toEqual([null, before.id])
      await strand.control('PATCH', `/channels/${channel.id}`, { second_publisher: 'take_over' })
      const second = publish(channel.key)
      await first.exited
      await until(
        () => sessionOf(channel),
        each => (each !== undefined && each !== session) || second.exitCode !== null,
      )
      expect([second.exitCode, (await channel.stream())?.id]).toEqual([null, before.id])
      second.kill('SIGINT')
      await second.exited
      await channel.untilOffline()
    })

    test('the key can be rotated during a broadcast: its end is noticed, and the previous key is valid for a while', async () => {
      const channel = await newChannel()
      const previous = channel.key
      const encoder = publish(previous)
      const before = await channel.untilLive()
      await channel.rotateKey(60)
      encoder.kill('SIGINT')
      await encoder.exited
      const again = await publishAgain(channel, previous)
      expect((await channel.stream())?.id).toBe(before.id)
      const replaced = channel.key
      await channel.rotateKey()
      again.kill('SIGINT')
      await again.exited
      await publish(replaced).exited
      await channel.untilOffline()
    })

    test('viewers are counted', async () => {
      const channel = await newChannel()
      const live = () => channel.stream()
      const encoder = publish(channel.key)
      expect((await channel.untilLive()).viewer_count).toBe(0)
      const viewer = encoders.watch(`rtmp://127.0.0.1:${nginx.rtmpPort}/show/${channel.login}`)
      await until(live, stream => stream?.viewer_count === 1)
      viewer.kill('SIGKILL')
      await viewer.exited
      await until(live, stream => stream?.viewer_count === 0)
      encoder.kill('SIGINT')
      await encoder.exited
    })

    test('a broadcast continues while Strand is killed and restarted', async () => {
      const encoder = publish(channel.key)
      const before = await channel.untilLive()
      await untilPublishing(channel)
      await strand.end('SIGKILL')
      await strand.serve()
      expect((await channel.stream())?.id).toBe(before.id)
      // Longer than a silent session and the grace period last.
      await Bun.sleep(26_000)
      expect([encoder.exitCode, (await channel.stream())?.id]).toEqual([null, before.id])
      encoder.kill('SIGINT')
      await channel.untilOffline()
    })

    test('a broadcast that ends while Strand is down is offline soon after it is back', async () => {
      const encoder = await publishAgain(channel)
      await channel.untilLive()
      await strand.end('SIGTERM')
      encoder.kill('SIGINT')
      await encoder.exited
      await strand.serve()
      await channel.untilOffline()
      expect(await sessionOf(channel)).toBeUndefined()
    })

    test('keys and secrets are in no file, log, page, metric or process list', async () => {
      const encoder = await publishAgain(channel)
      await channel.untilLive()
      const { id } = await channel.video()
      await until(() => answers(`http://127.0.0.1:${nginx.hlsPort}/hls/${channel.login}.m3u8`), Boolean)
      const secret = /smed_[A-Za-z0-9]{38}/.exec(readFileSync(nginx.configurationFile, 'utf8'))?.[0] ?? ''
      const pages = ['/metrics', '/', `/${channel.login}`, `/videos/${id}`].map(path =>
        fetch(strand.url + path).then(response => response.text()),
      )
      encoder.kill('SIGINT')
      await encoder.exited
      const processes = Bun.spawnSync(['ps', 'axww', '-o', 'args']).stdout.toString()
      for (const text of [nginx.written(), strand.logs, processes, ...(await Promise.all(pages))]) {
        // Other tests on this machine may show theirs.
        for (const each of [...channels.flatMap(({ keys }) => keys), secret]) expect(text).not.toContain(each)
      }
      expect(nginx.written()).toContain(channel.login)
    })

    test('strand doctor finds no key in the HLS folder, and finds those of a configuration that publishes keys', async () => {
      const look = (folder: string) => strand.command('doctor', '--hls-folder', join(nginx.folder, folder))
      expect((await look('hls')).stdout).toMatch(/ok +stream keys: no name/)
      const encoder = publish(channel.key, 'naive')
      const report = await until(
        () => look('naive'),
        ({ stdout }) => !stdout.includes('no name'),
      )
      encoder.kill('SIGINT')
      await encoder.exited
      expect(report.stdout).toMatch(/problem +stream keys: stream keys are in \d+ of the names/)
      expect(report.stdout + report.stderr).not.toContain(channel.key)
    })
  })
}
