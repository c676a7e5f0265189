/** Broadcasts of ffmpeg through the real node-media-server, with the configuration that `strand media add` prints. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Encoders, endsAtMarker, hasEncoder, pictureTimes } from '../support/media/encoder.ts'
import {
  answers,
  type LiveChannel,
  LiveStrand,
  type LiveStream,
  until,
} from '../support/media/live-strand.ts'
import { hasNodeMediaServer, NodeMediaServer } from '../support/media/node-media-server.ts'
import { freePort } from '../support/store/postgres.ts'

/** Long enough for an encoder to return on a busy machine. */
const GRACE = 10
/** Until a poll notices that a publisher has gone. */
const POLL = 5
/** A stream key as the name of a stream. */
const AS_NAME = 'live_1001_thisIsAKeyAsTheNameOfTheStream'

// The store is behind the adapter: callbacks.test.ts and replay.full.ts run the same events on both.
describe.if(hasNodeMediaServer && hasEncoder)('node-media-server', () => {
  const encoders = new Encoders()
  let strand: LiveStrand
  let media: NodeMediaServer
  let otter: LiveChannel
  let heron: LiveChannel
  let finch: LiveChannel
  let crane: LiveChannel
  /** A marker, the seconds until the broadcast ended, and the video. */
  let marked: { readonly position: number; readonly seconds: number; readonly video_id: string }

  const publish = (name: string) => encoders.publish(`rtmp://127.0.0.1:${media.rtmpPort}/live/${name}`)
  const check = (...words: string[]) => strand.command('media', 'check', 'small', ...words)
  const untilPublishers = (count: number) =>
    until(
      () => check('--configuration', media.configurationFile),
      ({ stdout }) => stdout.includes(` ${count} publisher`),
    )

  beforeAll(async () => {
    await encoders.prepare()
    strand = await LiveStrand.start('sqlite', GRACE)
    otter = await strand.channel('1000', 'lunar_otter')
    heron = await strand.channel('1001', 'tidal_heron')
    finch = await strand.channel('1002', 'amber_finch')
    crane = await strand.channel('1003', 'silver_crane')
    media = new NodeMediaServer({ rtmp: await freePort(), http: await freePort() })
    const url = `http://127.0.0.1:${media.httpPort}`
    const more = ['--api-url', url, '--recordings-url', `${url}/recordings`]
    const added = await strand.command('media', 'add', 'node-media-server', 'small', ...more)
    expect(added.code).toBe(0)
    media.start(added.stdout)
    await until(() => answers(`${url}/api/v1/health`), Boolean)
  })
  afterAll(async () => {
    await encoders.remove()
    await media?.remove()
    await strand?.remove()
  })

  test('strand media check finds nothing wrong, or names what is', async () => {
    const configuration = readFileSync(media.configurationFile, 'utf8')
    const changed = (from: RegExp, to: string) => {
      const file = join(media.folder, 'changed.conf')
      writeFileSync(file, configuration.replace(from, to))
      return file
    }
    expect(await check()).toMatchObject({
      code: 0,
      stdout: 'ok       the API answers; give --configuration to check its secret\n',
    })
    expect(await check('--configuration', media.configurationFile)).toMatchObject({
      code: 0,
      stdout: 'ok       0 publishers\n',
    })
    const secret = await check('--configuration', changed(/smed_\w+/, 'smed_wrong'))
    expect([secret.code, secret.stdout]).toEqual([1, expect.stringContaining('refuses the secret')])
    expect(secret.stdout).toContain('refuses the token of Strand')
    const callback = await check('--configuration', changed(/127\.0\.0\.1:\d+\/ingest/, '127.0.0.1:1/ingest'))
    expect([callback.code, callback.stdout]).toEqual([1, expect.stringContaining('nothing answers')])
    const other = await check('--configuration', changed(/ingest\/node-media-server/, 'elsewhere'))
    expect([other.code, other.stdout]).toEqual([1, expect.stringContaining('no callback URL')])
  })

  test('a kick disconnects the publisher', async () => {
    const encoder = publish(finch.loginWithKey)
    await finch.untilLive()
    await Bun.sleep(3000)
    const asked = performance.now()
    const position = await finch.mark()
    await strand.control('DELETE', `/channels/${finch.id}/publisher`)
    const kicked = performance.now()
    await encoder.exited
    const seconds = (performance.now() - asked) / 1000
    expect(performance.now() - kicked).toBeLessThan(5000)
    await finch.untilOffline()
    marked = { position, seconds, video_id: (await finch.video()).id }
  })

  test('a broadcast: live, watched, kept from a second publisher, continued and offline after the grace period', async () => {
    const first = publish(otter.loginWithKey)
    const { id } = await otter.untilLive()
    expect(Math.max(...strand.callbackTimes())).toBeLessThan(1000)
    const viewer = encoders.watch(`rtmp://127.0.0.1:${media.rtmpPort}/live/${otter.login}`)
    const watched = (count: number) => (stream: LiveStream | undefined) => stream?.viewer_count === count
    await until(() => otter.stream(), watched(1))
    viewer.kill('SIGKILL')

    // node-media-server refuses a second publisher itself, so the channel cannot let it take over.
    await strand.control('PATCH', `/channels/${otter.id}`, { second_publisher: 'take_over' })
    await publish(otter.loginWithKey).exited
    await until(() => otter.stream(), watched(0))
    expect([first.exitCode, (await otter.stream())?.id]).toEqual([null, id])

    first.kill('SIGINT')
    await first.exited
    // The previous key is valid for a while, and the encoder returns with it.
    const previous = otter.loginWithKey
    await otter.rotateKey(60)
    // Until node-media-server has seen the end of the first it refuses another.
    await untilPublishers(0)
    const second = publish(previous)
    await untilPublishers(1)
    expect((await otter.stream())?.id).toBe(id)
    second.kill('SIGINT')
    await second.exited
    const ended = performance.now()
    await otter.untilOffline()
    expect(performance.now() - ended).toBeGreaterThan(GRACE * 1000 - 1500)
    expect(performance.now() - ended).toBeLessThan((GRACE + POLL + 4) * 1000)
    expect(await otter.video()).toMatchObject({ stream_id: id })
  })

  test('a wrong key, the key of another channel, a replaced key, two keys and the key as the name are refused', async () => {
    const replaced = heron.loginWithKey
    await heron.rotateKey()
    for (const name of [
      `${heron.login}?key=live_1001_thisIsNotTheKeyOfThisChannel`,
      `${heron.login}?key=${otter.key}`,
      replaced,
      `${heron.loginWithKey}&token=${otter.key}`,
      AS_NAME,
    ])
      await publish(name).exited
    expect(await heron.stream()).toBeUndefined()
    // Refused, but a file has its name already.
    const { stdout } = await strand.command('doctor', '--hls-folder', join(media.folder, 'recordings'))
    expect(stdout).toMatch(/problem +stream keys: stream keys are in 2 of the names/)
  })

  test('the recording is attached to the video, can be searched, and has the marker at its position', async () => {
    const url = `${strand.url}/videos/${marked.video_id}.mp4`
    // node-media-server waits 30 s for the publisher, and reports the recording once: Strand has to be there.
    await until(() => answers(url), Boolean)
    const times = pictureTimes(url)
    expect(endsAtMarker(times, marked.position, marked.seconds)).toBe(true)
    const later = pictureTimes(url, 2)
    expect(later.length).toBeLessThan(times.length)
    expect(Math.abs((later[0] ?? 0) - 2)).toBeLessThan(1.5)
    const part = await fetch(url, { headers: { Range: 'bytes=0-2' } })
    expect([part.status, await part.text()]).toEqual([206, 'FLV'])
  })

  test('a broadcast continues while Strand is killed, and ends with one that ended while Strand was down', async () => {
    const encoder = publish(heron.loginWithKey)
    const before = await heron.untilLive()
    await strand.end('SIGKILL')
    await strand.serve()
    expect((await heron.stream())?.id).toBe(before.id)
    await Bun.sleep((POLL + 1) * 1000)
    expect([encoder.exitCode, (await heron.stream())?.id]).toEqual([null, before.id])

    await strand.end('SIGTERM')
    encoder.kill('SIGINT')
    await encoder.exited
    // Without an answer node-media-server lets everyone in.
    const stranger = publish(`${crane.login}?key=live_1003_thisIsNotTheKeyOfThisChannel`)
    await Bun.sleep(2000)
    expect(stranger.exitCode).toBeNull()
    await strand.serve()
    await heron.untilOffline()
    await stranger.exited
    expect(strand.logs).toContain('its key was not checked')
    expect(await crane.stream()).toBeUndefined()
  })

  test('keys and secrets are in no file, log, page, metric or process list', async () => {
    const configuration = readFileSync(media.configurationFile, 'utf8')
    const secrets = [/smed_[A-Za-z0-9]{38}/, /[0-9a-f]{64}/].map(
      each => each.exec(configuration)?.[0] ?? 'none',
    )
    const keys = [otter, heron, finch, crane].flatMap(channel => channel.keys)
    const encoder = publish(otter.loginWithKey)
    await otter.untilLive()
    const pages = ['/metrics', `/${otter.login}`, '/', `/videos/${marked.video_id}`].map(path =>
      fetch(strand.url + path).then(response => response.text()),
    )
    encoder.kill('SIGINT')
    await encoder.exited
    const processes = Bun.spawnSync(['ps', 'axww', '-o', 'args']).stdout.toString()
    expect(media.written()).toContain(otter.login)
    for (const text of [media.written(), strand.logs, processes, ...(await Promise.all(pages))]) {
      // Other tests on this machine may show theirs.
      for (const each of [...keys, ...secrets]) expect(text).not.toContain(each)
    }
  })
})
