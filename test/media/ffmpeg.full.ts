/** Broadcasts of a real encoder to the real server: its embedded media server, recordings, keys and publishers. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { assertDefined } from '../../src/kit/assert-defined.ts'
import {
  type BroadcastChannel,
  BroadcastServer,
  type BroadcastViewer,
  expectSeekable,
  readKeyFrames,
  until,
  untilRecorded,
} from '../support/media/broadcasts.ts'
import { decodingErrors, Encoders, hasEncoder, hasProbe, probe } from '../support/media/encoder.ts'
import { engines, executeIn } from '../support/server.ts'

/** Long enough for an encoder to return on a busy machine. */
const GRACE = 12
/** How long replaced keys are valid: long enough for three encoders, one after the other. */
const VALID_SECONDS = 20

for (const engine of hasEncoder && hasProbe ? engines : []) {
  describe(`ffmpeg on ${engine}`, () => {
    const encoders = new Encoders()
    let server: BroadcastServer

    beforeAll(async () => {
      await encoders.prepare()
      server = await BroadcastServer.start(engine, () => ({ STRAND_RECONNECT_GRACE: String(GRACE) }))
    })
    afterAll(async () => {
      await encoders.remove()
      await server.remove()
    })

    const publish = (name: string) => encoders.publish(server.ingestUrl(name))
    const stop = async (encoder: Bun.Subprocess) => {
      encoder.kill('SIGINT')
      await encoder.exited
    }
    /** Whether an encoder is let in under this name; then it stops again. */
    const isAccepted = async (channel: BroadcastChannel, name: string): Promise<boolean> => {
      const encoder = publish(name)
      const isLetIn = until(
        () => server.hasPublisher(channel),
        answer => answer || encoder.exitCode !== null,
      )
      const answer = await isLetIn
      await stop(encoder)
      await until(
        () => server.hasPublisher(channel),
        hasPublisher => !hasPublisher,
      )
      // The end of its session is written just after that.
      if (answer) await Bun.sleep(100)
      return answer
    }
    /** Publishes as soon as the previous publisher is gone. */
    const publishAgain = async (channel: BroadcastChannel) => {
      for (;;) {
        const encoder = publish(channel.key)
        const viewer = await Promise.race([encoder.exited.then(() => undefined), server.watch(channel)])
        if (viewer !== undefined) return { encoder, viewer }
      }
    }
    test.concurrent('a broadcast is live, watched, marked, interrupted, continued and kept as a video', async () => {
      const channel = await server.newChannel()
      const first = publish(channel.key)
      const isStart = (line: string) =>
        line.includes('broadcast started') && line.includes(`"user_id":"${channel.id}"`)
      await until(
        () => server.log,
        log => log.split('\n').some(isStart),
      )
      const accepted = performance.now()
      const stream = await server.untilLive(channel)
      expect(performance.now() - accepted).toBeLessThan(1000)

      const viewers = await Promise.all([1, 2, 3].map(() => server.watch(channel)))
      await until(
        () => server.live(channel),
        // One address with one program.
        row => row?.viewer_count === 1,
      )
      const markWhile = async (viewer: BroadcastViewer) => {
        const shown = await until(() => viewer.keyFrame, Boolean)
        return { shown, at: performance.now(), position: await server.mark(channel) }
      }
      const early = await markWhile(assertDefined(viewers[0], 'a viewer'))
      await stop(first)
      const { encoder: second, viewer } = await publishAgain(channel)
      // The first key frame may be older than the viewer.
      await Bun.sleep(1500)
      expect((await server.live(channel))?.id).toBe(stream.id)
      const late = await markWhile(viewer)
      await Bun.sleep(1500)
      await stop(second)
      const stopped = Date.now()
      await server.untilOffline(channel)
      expect(Date.now() - stopped).toBeWithin(GRACE * 1000 - 1000, GRACE * 1000 + 3000)

      // The recording is closed when its stream has ended.
      const sessions = await until(
        () =>
          executeIn(server.place, `select recorded_at from publish_sessions where user_id = '${channel.id}'`),
        rows => rows.at(-1)?.recorded_at !== null,
      )
      // The first one may be forgotten already.
      expect(sessions.at(-1)).toEqual({ recorded_at: expect.any(String) })
      expect(sessions.filter(({ recorded_at }) => recorded_at === null)).toEqual([])

      // One video for both publishers, as long as the stream was on the air.
      const video = await server.video(channel)
      expect(video.stream_id).toBe(stream.id)
      const seconds = (stopped - Date.parse(stream.started_at)) / 1000
      expect(Math.abs(Number.parseInt(video.duration, 10) - seconds)).toBeLessThan(2)
      const url = server.recordingUrl(video)
      const file = await untilRecorded(url)
      const recorded = await probe(url)
      expect(Math.abs(recorded.seconds - seconds)).toBeLessThan(2)
      expect(recorded.codecs).toEqual(['aac', 'h264'])
      await expectSeekable(url, recorded.start)

      // The key frame that a viewer had when a marker was made has the marker's position in the recording.
      const frames = await readKeyFrames(file)
      for (const [{ position, shown, at }, pick] of [
        [early, 'find'],
        [late, 'findLast'],
      ] as const) {
        const frame = frames[pick](({ payload }) => shown?.payload.equals(payload))
        const moment = (frame?.milliseconds ?? Number.NaN) + at - (shown?.at ?? 0)
        expect(Math.abs(moment / 1000 - position - 0.5)).toBeLessThan(1.5)
      }
    })

    test.concurrent('the right key opens a broadcast, in either form; a wrong, replaced or expired one does not', async () => {
      const channel = await server.newChannel()
      const { id, login, key } = channel
      const wrong = `live_${id}_${'x'.repeat(30)}`
      server.canaries.note(wrong)
      expect(await isAccepted(channel, wrong)).toBe(false)
      expect(await isAccepted(channel, `otter_1?key=${key}`)).toBe(false)
      expect(await server.live(channel)).toBeUndefined()

      const rotated = await server.control<{ stream_key: string }>(
        'POST',
        `/channels/${id}/stream-key/rotate`,
        { grace_seconds: VALID_SECONDS },
      )
      const rotatedAt = Date.now()
      const guest = await server.control<{ stream_key: string }>('POST', `/channels/${id}/stream-keys`, {
        name: 'guest',
        valid_until: new Date(rotatedAt + VALID_SECONDS * 1000).toISOString(),
      })
      expect(await isAccepted(channel, key)).toBe(true)
      expect(await isAccepted(channel, `${login}?key=${guest.stream_key}`)).toBe(true)
      expect(await isAccepted(channel, `${login}?token=${rotated.stream_key}`)).toBe(true)
      await Bun.sleep(rotatedAt + VALID_SECONDS * 1000 + 100 - Date.now())
      expect(await isAccepted(channel, key)).toBe(false)
      expect(await isAccepted(channel, guest.stream_key)).toBe(false)
      expect(await isAccepted(channel, rotated.stream_key)).toBe(true)
    })

    test.concurrent('a second publisher is refused, and the first is not disturbed', async () => {
      const channel = await server.newChannel()
      const first = publish(channel.key)
      const viewer = await server.watch(channel)
      const second = publish(channel.key)
      expect(await second.exited).not.toBe(0)
      const refusedAt = performance.now()
      await until(
        () => viewer.keyFrame,
        frame => frame !== undefined && frame.at > refusedAt,
      )
      expect(first.exitCode).toBeNull()
      await stop(first)
    })

    test.concurrent('a second publisher takes over where the channel allows that, into the same recording', async () => {
      const channel = await server.newChannel({ second_publisher: 'take_over' })
      const first = publish(channel.key)
      const stream = await server.untilLive(channel)
      await Bun.sleep(2500)
      const second = publish(channel.key)
      await first.exited
      const viewer = await server.watch(channel)
      await Bun.sleep(2500)
      expect([second.exitCode, (await server.live(channel))?.id]).toEqual([null, stream.id])
      viewer.leave()
      await stop(second)
      const seconds = (Date.now() - Date.parse(stream.started_at)) / 1000
      await server.untilOffline(channel)
      const url = server.recordingUrl(await server.video(channel))
      await untilRecorded(url)
      expect(Math.abs((await probe(url)).seconds - seconds)).toBeLessThan(2)
      expect(await decodingErrors(url)).toBe('')
    })

    test('keys are in no file, log, page, metric or audit row, and not in the process list', async () => {
      const { canaries } = server
      const { key } = await server.newChannel()
      expect(canaries.leaksIn(`a ${key} that is found`)).toEqual([key])
      const traces = await server.traces()
      expect(traces.filter(text => text.startsWith('ftyp', 4)).length).toBeGreaterThan(2)
      expect(traces.some(text => text.includes('broadcast started'))).toBe(true)
      expect(traces.flatMap(text => canaries.leaksIn(text))).toEqual([])
    })
  })
}
