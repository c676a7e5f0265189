/**
 * A broadcast of ffmpeg as programs that we did not write play it: live while it runs, and its recording afterwards, as MP4 and
 * as HLS. They find the pictures of the source without a gap, each exactly as far from the next as in the source, and sound
 * within a millisecond.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type BroadcastChannel, BroadcastServer, until, untilRecorded } from '../support/media/broadcasts.ts'
import { hasEncoder, hasProbe } from '../support/media/encoder.ts'
import { HlsPlayer } from '../support/media/hls.ts'
import { readMp4 } from '../support/media/read-mp4.ts'

const { TEST_FFMPEG = '', TEST_FFPROBE = '', TEST_VLC = '', TEST_GSTREAMER = '' } = process.env
const folder = mkdtempSync(join(tmpdir(), 'strand-readers-'))

async function run(...command: readonly string[]): Promise<{ output: string; errors: string }> {
  const options = {
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    env: { ...process.env, HOME: folder },
  } as const
  const child = Bun.spawn([...command], options)
  const [output, errors] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
  return { output, errors: child.exitCode === 0 ? errors : `${errors}\nended with ${child.exitCode}` }
}

/** When pictures and sound are presented, in milliseconds. */
interface Times {
  readonly video: readonly number[]
  readonly audio: readonly number[]
}

const ordered = (times: readonly number[]) => times.filter(Number.isFinite).toSorted((a, b) => a - b)

async function probeTimes(file: string): Promise<Times> {
  const words = '-v error -show_entries packet=codec_type,pts_time -of csv=p=0'
  const { output } = await run(TEST_FFPROBE, ...words.split(' '), file)
  const rows = output.split('\n').map(line => line.split(','))
  const times = (kind: string) =>
    ordered(rows.flatMap(([each, time]) => (each === kind ? [Number.parseFloat(time ?? '') * 1000] : [])))
  return { video: times('video'), audio: times('audio') }
}

/** The program decodes everything, and has nothing to object to. */
async function ffmpeg(url: string): Promise<Times> {
  const copy = join(folder, `${Bun.randomUUIDv7()}.mkv`)
  const outputs = ['-map', '0', '-c', 'copy', copy, '-map', '0', '-f', 'null', '-']
  const { errors } = await run(TEST_FFMPEG, '-v', 'error', '-xerror', '-copyts', '-i', url, ...outputs)
  expect(errors).toBe('')
  return probeTimes(copy)
}

/** It refuses to run as root. */
const AS_NOBODY =
  process.getuid?.() === 0 ? 'setpriv --reuid 65534 --regid 65534 --clear-groups'.split(' ') : []

async function vlc(url: string): Promise<Times> {
  const copy = join(folder, `${Bun.randomUUIDv7()}.ts`)
  const output = `--sout=#std{access=file,mux=ts,dst=${copy}}`
  await run(...AS_NOBODY, TEST_VLC, '-I', 'dummy', output, url, 'vlc://quit')
  const { video, audio } = await probeTimes(copy)
  // It does not write the last pictures when it quits.
  return { video: video.slice(0, -8), audio }
}

/** Prints every buffer, and where the segments of its timeline begin. */
async function gstreamerTimes(url: string, kind: 'video' | 'audio'): Promise<number[]> {
  const source = ['souphttpsrc', `location=${url}`, '!', ...(url.endsWith('.m3u8') ? ['hlsdemux', '!'] : [])]
  const sink = `qtdemux name=d d.${kind}_0 ! fakesink silent=false sync=false`.split(' ')
  const { output, errors } = await run(TEST_GSTREAMER, '-v', ...source, ...sink)
  expect(errors).toBe('')
  const times: number[] = []
  let offset = 0
  for (const line of output.split('\n')) {
    const [, base, start] =
      /GstEventSegment.* base=\(guint64\)([0-9]+).* start=\(guint64\)([0-9]+)/.exec(line) ?? []
    if (base !== undefined) offset = (Number(base) - Number(start)) / 1e6
    const [, hours, minutes, seconds] = /chain .* pts: ([0-9]+):([0-9]+):([0-9.]+)/.exec(line) ?? []
    if (seconds !== undefined)
      times.push(1000 * (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) + offset)
  }
  return ordered(times)
}

async function gstreamer(url: string): Promise<Times> {
  const [video, audio] = await Promise.all([gstreamerTimes(url, 'video'), gstreamerTimes(url, 'audio')])
  return { video, audio }
}

/** It reads no playlists. */
async function mediabunny(url: string): Promise<Times> {
  const pieces: Uint8Array[] = []
  if (url.endsWith('.mp4')) pieces.push(await (await fetch(url)).bytes())
  else {
    const player = new HlsPlayer(new URL(url))
    for await (const { init, bytes } of player.segments())
      pieces.push(...(pieces.length === 0 ? [await player.bytes(init)] : []), bytes)
  }
  const tracks = await readMp4(...pieces)
  const times = (kind: string) =>
    ordered(
      tracks
        .filter(track => track.kind === kind)
        .flatMap(track => track.samples.map(({ seconds }) => seconds * 1000)),
    )
  return { video: times('video'), audio: times('audio') }
}

const READERS = {
  ffmpeg: { read: ffmpeg, isThere: true },
  VLC: { read: vlc, isThere: TEST_VLC !== '' },
  GStreamer: { read: gstreamer, isThere: TEST_GSTREAMER !== '' },
  mediabunny: { read: mediabunny, isThere: true },
}
type ReaderName = keyof typeof READERS
const NAMES = Object.keys(READERS) as ReaderName[]

/** A source that is short, and has more segments than players start behind the end. */
const SECONDS = 10
const SOURCE = `-f lavfi -i testsrc=size=320x180:rate=30 -f lavfi -i sine=r=44100 -t ${SECONDS} -c:v libx264 -pix_fmt yuv420p -preset ultrafast -bf 2 -g 60 -c:a aac`
/** A clock with 90,000 ticks in a second, and one with a thousand in the source. */
const VIDEO_TOLERANCE = 0.02
const AUDIO_TOLERANCE = 1
/**
 * VLC 3 ignores that the edit list of a closed MP4 begins with the first picture that is shown, as it does for files of ffmpeg:
 * sound is early by the two pictures that B-frames wait for, and at the end of an empty edit two pictures are closer.
 */
const VLC_MP4 = { video: 34, drift: 67 }

let server: BroadcastServer
let channel: BroadcastChannel
let source: Times
const live = new Map<ReaderName, Times>()
const kept = new Map<string, Times>()

/** By how much the times may be later than a run of those that are expected: the distances repeat, so several may fit. */
function findShifts(found: readonly number[], expected: readonly number[], tolerance: number): number[] {
  const shifts: number[] = []
  for (let from = 0; from + found.length <= expected.length; from++) {
    const shift = (found[0] ?? 0) - (expected[from] ?? 0)
    const errors = found.map((time, index) => time - (expected[from + index] ?? 0) - shift)
    // A rounded first time must not count against all others.
    if (Math.max(...errors) - Math.min(...errors) <= 2 * tolerance) shifts.push(shift)
  }
  return shifts
}

/** The times are a part of those of the source without a gap. */
function expectRun(
  found: Times | undefined,
  atLeastSeconds: number,
  tolerance = { video: VIDEO_TOLERANCE, drift: 0 },
): void {
  const { video, audio } = found ?? { video: [], audio: [] }
  expect(video.length).toBeGreaterThanOrEqual(atLeastSeconds * 30)
  expect(audio.length).toBeGreaterThanOrEqual(atLeastSeconds * 40)
  const ofAudio = findShifts(audio, source.audio, AUDIO_TOLERANCE)
  const drifts = findShifts(video, source.video, tolerance.video).flatMap(shift =>
    ofAudio.map(other => Math.abs(shift - other)),
  )
  // Sound and picture have not moved against each other.
  expect(Math.min(...drifts)).toBeLessThanOrEqual(tolerance.drift + AUDIO_TOLERANCE + VIDEO_TOLERANCE)
}

describe.skipIf(!hasEncoder || !hasProbe)('a broadcast of ffmpeg', () => {
  beforeAll(async () => {
    chmodSync(folder, 0o777)
    const file = join(folder, 'source.flv')
    const made = await run(TEST_FFMPEG, '-loglevel', 'error', ...SOURCE.split(' '), file)
    expect(made.errors).toBe('')
    source = await probeTimes(file)
    server = await BroadcastServer.start('sqlite', () => ({ STRAND_RECONNECT_GRACE: '1' }))
    channel = await server.newChannel()
    const words = ['-loglevel', 'error', '-re', '-i', file, '-c', 'copy', '-f', 'flv']
    const publishing = run(TEST_FFMPEG, ...words, server.ingestUrl(channel.key))
    const player = await HlsPlayer.open(server.url, channel.login)
    await player.playlist()
    // This one stays for a minute, for programs that start late on a busy machine.
    const url = player.mediaUrl.href
    const readers = NAMES.filter(name => READERS[name].isThere)
    await Promise.all([
      publishing,
      ...readers.map(async name => live.set(name, await READERS[name].read(url))),
    ])
    const recording = server.recordingUrl(await server.video(channel))
    await untilRecorded(recording)
    const playlist = recording.replace('.mp4', '.m3u8')
    await until(
      () => fetch(playlist).then(answer => answer.text()),
      text => text.includes('#EXT-X-ENDLIST'),
    )
    for (const name of readers) {
      kept.set(`${name} MP4`, await READERS[name].read(recording))
      if (name !== 'mediabunny') kept.set(`${name} HLS`, await READERS[name].read(playlist))
    }
  }, 120_000)
  afterAll(async () => {
    await server?.remove()
    rmSync(folder, { recursive: true, force: true })
  })

  for (const name of NAMES) {
    const testIf = test.skipIf(!READERS[name].isThere)
    testIf(`${name} plays live`, () => expectRun(live.get(name), 3))
    testIf(`${name} plays the recording as MP4`, () =>
      expectRun(kept.get(`${name} MP4`), SECONDS - 0.5, name === 'VLC' ? VLC_MP4 : undefined),
    )
    if (name !== 'mediabunny')
      testIf(`${name} plays the recording as HLS`, () => expectRun(kept.get(`${name} HLS`), SECONDS - 0.5))
  }
})
