/** Broadcasts of a real encoder to a server that is killed, restarted, or cannot write its recordings. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  type BroadcastChannel,
  BroadcastServer,
  expectSeekable,
  hasLimits,
  readKeyFrames,
  until,
  untilRecorded,
} from '../support/media/broadcasts.ts'
import { decodingErrors, Encoders, hasEncoder, hasProbe, probe } from '../support/media/encoder.ts'
import { type EngineName, engines } from '../support/server.ts'

const GRACE = 8

/** The seconds of a duration below a minute. */
const secondsOf = (duration: string) => Number.parseInt(duration, 10)

describe.if(hasEncoder && hasProbe)('an outage during broadcasts', () => {
  const encoders = new Encoders()
  const servers: BroadcastServer[] = []
  beforeAll(() => encoders.prepare())
  afterAll(async () => {
    await encoders.remove()
    for (const server of servers) await server.remove()
  })
  const start = async (
    settingsFor: Parameters<typeof BroadcastServer.start>[1],
    engine: EngineName = 'sqlite',
  ) => {
    const server = await BroadcastServer.start(engine, settingsFor)
    servers.push(server)
    return server
  }
  const publish = (server: BroadcastServer, { key }: BroadcastChannel) =>
    encoders.publish(server.ingestUrl(key))
  const settings = () => ({ STRAND_RECONNECT_GRACE: String(GRACE) })

  test.concurrent('of Strand: an encoder that returns continues the stream, the other one ended when it was last heard', async () => {
    const server = await start(settings)
    const [returning, gone] = [await server.newChannel(), await server.newChannel()]
    publish(server, returning)
    publish(server, gone)
    const before = await server.untilLive(returning)
    const other = await server.untilLive(gone)
    await Bun.sleep(7000)
    const killed = Date.now()
    await server.end('SIGKILL')
    await server.restart()
    const encoder = publish(server, returning)
    await server.watch(returning)
    await server.untilOffline(gone)
    expect((await server.live(returning))?.id).toBe(before.id)

    const heard = (killed - Date.parse(other.started_at)) / 1000
    const video = await server.video(gone)
    expect(Math.abs(secondsOf(video.duration) - heard)).toBeLessThan(2)
    const url = server.recordingUrl(video)
    await untilRecorded(url)
    const recorded = await probe(url)
    expect(Math.abs(recorded.seconds - heard)).toBeLessThan(2)
    await expectSeekable(url, recorded.start)
    expect(await decodingErrors(url)).toBe('')

    encoder.kill('SIGINT')
    await encoder.exited
    const lasted = (Date.now() - Date.parse(before.started_at)) / 1000
    await server.untilOffline(returning)
    const continued = await server.video(returning)
    expect(continued.stream_id).toBe(before.id)
    await untilRecorded(server.recordingUrl(continued))
    expect(Math.abs((await probe(server.recordingUrl(continued))).seconds - lasted)).toBeLessThan(2)
  })

  for (const signal of ['SIGTERM', 'SIGKILL'] as const)
    test.concurrent(`of Strand for longer than the grace, after ${signal}: the video ends with the broadcast, not with the restart`, async () => {
      const server = await start(() => ({ STRAND_RECONNECT_GRACE: '2' }))
      const channel = await server.newChannel()
      publish(server, channel)
      const { started_at } = await server.untilLive(channel)
      await Bun.sleep(3500)
      await server.end(signal)
      const seconds = (Date.now() - Date.parse(started_at)) / 1000
      await Bun.sleep(6000)
      await server.restart()
      await server.untilOffline(channel)
      const video = await server.video(channel)
      expect(Math.abs(secondsOf(video.duration) - seconds)).toBeLessThan(2)
      const url = server.recordingUrl(video)
      await untilRecorded(url)
      expect(Math.abs((await probe(url)).seconds - seconds)).toBeLessThan(2)
      expect(await decodingErrors(url)).toBe('')
    })

  test.concurrent('of the folder of recordings: the broadcast is live, and the log has a warning', async () => {
    const server = await start(({ folder }) => {
      writeFileSync(join(folder, 'recordings'), 'not a folder')
      return settings()
    })
    const channel = await server.newChannel()
    publish(server, channel)
    const viewer = await server.watch(channel)
    await until(() => viewer.keyFrame, Boolean)
    expect(await server.live(channel)).toBeDefined()
    expect(server.log).toContain('"msg":"recording stopped"')
    const video = await server.video(channel)
    expect((await fetch(server.recordingUrl(video))).status).toBe(404)
  })

  test.concurrent('of the encoder, which hangs: after 20 s of silence another one continues the stream', async () => {
    const server = await start(() => ({ STRAND_RECONNECT_GRACE: '60' }))
    const channel = await server.newChannel()
    const first = publish(server, channel)
    const stream = await server.untilLive(channel)
    await server.watch(channel)
    first.kill('SIGSTOP')
    const hung = performance.now()
    const started = () => server.log.split('"msg":"broadcast started"').length - 1
    while (started() < 2)
      await Promise.race([publish(server, channel).exited, until(started, count => count > 1)])
    expect((performance.now() - hung) / 1000).toBeWithin(14, 29)
    expect((await server.live(channel))?.id).toBe(stream.id)
  })

  // On PostgreSQL: the limit is one of the process, and the embedded store would reach it too.
  test.concurrent.if(engines.includes('postgres') && hasLimits)(
    'of the disk: the broadcast continues, the log has a warning, and recording resumes when there is room',
    async () => {
      const server = await start(settings, 'postgres')
      const channel = await server.newChannel()
      const encoder = publish(server, channel)
      const { started_at } = await server.untilLive(channel)
      const viewer = await server.watch(channel)
      await Bun.sleep(4000)
      const full = (Date.now() - Date.parse(started_at)) / 1000
      const { id } = await server.video(channel)
      server.limitFiles(statSync(join(server.place.folder, 'recordings', `${id}.mp4`)).size + 1000)
      await until(
        () => server.log,
        log => log.includes('"msg":"recording stopped"'),
      )
      const warned = performance.now()
      await until(
        () => viewer.keyFrame,
        frame => frame !== undefined && frame.at > warned,
      )
      server.limitFiles('unlimited')
      await until(
        () => server.log,
        log => log.includes('"msg":"recording resumed"'),
      )
      const resumed = (Date.now() - Date.parse(started_at)) / 1000
      await Bun.sleep(3000)
      encoder.kill('SIGINT')
      await encoder.exited
      const ended = (Date.now() - Date.parse(started_at)) / 1000
      await server.untilOffline(channel)
      const url = server.recordingUrl(await server.video(channel))
      const times = (await readKeyFrames(await untilRecorded(url))).map(each => each.milliseconds / 1000)
      const gap = times.findIndex((time, index) => index > 0 && time - (times[index - 1] ?? 0) > 2.5)
      expect(Math.abs((times[gap - 1] ?? 0) - full)).toBeLessThan(3)
      expect(Math.abs((times[gap] ?? 0) - resumed)).toBeLessThan(3)
      expect(Math.abs((await probe(url)).seconds - ended)).toBeLessThan(2)
      expect(await decodingErrors(url)).toBe('')
    },
  )
})
