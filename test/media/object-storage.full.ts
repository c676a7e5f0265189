/** Recordings in object storage: uploads to a real S3-compatible server that fails in every way that a network has. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { RecordingUploads } from '../../src/ingest/recording-uploads.ts'
import { createLog } from '../../src/kit/telemetry/log.ts'
import { Metrics } from '../../src/kit/telemetry/metrics.ts'
import { isoSeconds, MovableClock } from '../../src/kit/time/clock.ts'
import { Bucket } from '../../src/media/bucket.ts'
import { Recordings } from '../../src/media/recording/recordings.ts'
import type { Store } from '../../src/store/store.ts'
import { RecordedPublisher } from '../support/media/recorder.ts'
import { type Fault, S3Server } from '../support/media/s3-server.ts'
import { engines } from '../support/server.ts'
import { anyStreamKey, openTestStore } from '../support/store/stores.ts'

const NOW = Date.parse('2026-03-01T12:00:00.000Z')
/** Frames of this size make a recording that takes several parts. */
const FRAME_BYTES = 30_000

describe.each([...engines])('object storage on %s', engine => {
  const scratch = mkdtempSync(join(tmpdir(), 'strand-uploads-'))
  let s3: S3Server
  let store: Store
  let close: () => Promise<void>
  let folders = 0
  let videos = 0
  let folder = ''
  let recordings: Recordings
  const logLines: string[] = []
  const log = createLog({ level: 'debug', readable: false, write: line => logLines.push(line) })
  const clock = new MovableClock({ at: NOW, running: true })
  const started: RecordingUploads[] = []
  beforeAll(async () => {
    ;({ store, close } = await openTestStore(engine))
    s3 = await S3Server.start()
  })
  afterAll(async () => {
    await close()
    await s3.stop()
    rmSync(scratch, { recursive: true })
  })
  beforeEach(() => {
    folders += 1
    folder = join(scratch, String(folders))
    recordings = new Recordings({ folder, maxBytes: 1e9 })
  })
  afterEach(async () => {
    for (const uploads of started.splice(0)) await uploads.stop()
    s3.fault = () => undefined
    expect(logLines.join('\n')).not.toContain('X-Amz-Signature')
  })

  const newUploads = (
    times: { partMilliseconds?: number; answerMilliseconds?: number } = {},
    holder = 'this process',
  ) => {
    const bucket = new Bucket({ ...s3.options, ...times })
    const uploads = new RecordingUploads({
      ...{ store, clock, log, recordings, bucket, watchUrl: null },
      firstRetryMilliseconds: 1,
      holder,
    })
    started.push(uploads)
    return uploads
  }
  /** A video whose stream has ended, unless it is live, with a recording. */
  const record = async ({ bytes = 60, isLive = false } = {}) => {
    videos += 1
    const [id, user_id] = [String(1000 + videos), String(videos)]
    const stream_key = anyStreamKey(user_id)
    await store.commands.putUser({ id: user_id, login: `user_${user_id}`, stream_key, now: NOW })
    const session = { adapter: 'embedded', server: 'local', session: user_id }
    const ids = { user_id, stream_id: `7${id}`, video_id: id, watch_url: null }
    await store.commands.openSession({ ...session, ...ids, now: NOW })
    const recording = await recordings.record(id)
    new RecordedPublisher(recording).play(12, { bytes }).end()
    await recordings.close(id)
    if (!isLive) await store.commands.endStream({ user_id, now: NOW + 12_000 })
    const file = recordings.filePath(id)
    return { id, user_id, file, content: readFileSync(file) }
  }
  const fileIn = async (id: string) => (await store.recordingFiles.of(id))[0]
  const uploaded = async (uploads: RecordingUploads, id: string) => {
    for (;;) {
      await uploads.look()
      if ((await fileIn(id))?.state === 'stored' && !existsSync(recordings.filePath(id))) return
      await Bun.sleep(5)
    }
  }
  const metric = (uploads: RecordingUploads, name: string) => {
    const metrics = new Metrics()
    uploads.measure(metrics)
    return metrics.families.find(family => family.name === name)?.samples.map(({ value }) => value)
  }

  test('a closed recording is uploaded in parts; its playlist is in the store, and the local file is gone', async () => {
    const { id, file, content } = await record({ bytes: FRAME_BYTES })
    expect(content.length).toBeGreaterThan(8 * 1024 * 1024)
    const playlist = await (await recordings.playlist(id))?.text.text()
    const uploads = newUploads()
    await uploaded(uploads, id)
    expect((await s3.read(`${id}.mp4`)).equals(content)).toBe(true)
    expect((await store.recordingFiles.playlistsOf(id)).get(1)).toBe(playlist ?? '')
    expect(existsSync(file)).toBe(false)
    expect(readdirSync(folder)).toEqual(['folder-id'])
    while (metric(uploads, 'strand_recording_uploads_total')?.[0] === 0) await Bun.sleep(5)
    expect(metric(uploads, 'strand_recording_uploads_total')).toEqual([1, 0])
  })

  test('that of a running stream, and one that is open, stay', async () => {
    const live = await record({ isLive: true })
    const open = await record()
    await recordings.reopen(open.id)
    const ended = await record()
    await uploaded(newUploads(), ended.id)
    for (const { id, file } of [live, open]) {
      expect(existsSync(file)).toBe(true)
      expect(await fileIn(id)).toBeUndefined()
    }
    await recordings.close(open.id)
  })

  const isPart = (method: string, url: URL) => method === 'PUT' && url.searchParams.has('partNumber')
  const FAULTS: readonly [string, (method: string, url: URL) => Fault][] = [
    ['fails each request', () => 'fail'],
    [
      'fails at the second part',
      (method, url) => {
        return isPart(method, url) && url.searchParams.get('partNumber') === '2' ? 'fail' : undefined
      },
    ],
    ['cuts connections in a part', (method, url) => (isPart(method, url) ? 'cut' : undefined)],
    ['cuts connections without a body', method => (method === 'HEAD' ? 'cut' : undefined)],
    ['never answers', () => 'hang'],
    ['never answers a part', (method, url) => (isPart(method, url) ? 'hang' : undefined)],
    [
      'never ends an upload',
      (method, url) => {
        return method === 'POST' && url.searchParams.has('uploadId') ? 'hang' : undefined
      },
    ],
    [
      'fails to end an upload',
      (method, url) => {
        return method === 'POST' && url.searchParams.has('uploadId') ? 'fail' : undefined
      },
    ],
  ]
  test.each(FAULTS)('a server that %s: the file stays until the object is whole', async (_, fault) => {
    const { id, file, content } = await record({ bytes: FRAME_BYTES })
    const uploads = newUploads({ partMilliseconds: 100, answerMilliseconds: 100 })
    s3.fault = fault
    const failures = () => metric(uploads, 'strand_recording_uploads_total')?.[1] ?? 0
    while (failures() < 2) {
      await uploads.look()
      await Bun.sleep(5)
    }
    expect(readFileSync(file).equals(content)).toBe(true)
    expect((await fileIn(id))?.state).toBe('uploading')
    expect(metric(uploads, 'strand_recordings_waiting')).toEqual([1])
    expect(metric(uploads, 'strand_recordings_waiting_bytes')).toEqual([content.length])
    s3.fault = () => undefined
    // A busy server needs longer than the test has waited for one that never answers.
    await uploads.stop()
    await uploaded(newUploads(), id)
    expect((await s3.read(`${id}.mp4`)).equals(content)).toBe(true)
    expect(existsSync(file)).toBe(false)
  })

  test('a server that is away, and returns', async () => {
    const { id, file, content } = await record()
    await s3.leave()
    const uploads = newUploads()
    while ((metric(uploads, 'strand_recording_uploads_total')?.[1] ?? 0) < 2) {
      await uploads.look()
      await Bun.sleep(5)
    }
    expect(existsSync(file)).toBe(true)
    await s3.listen()
    await uploaded(uploads, id)
    expect((await s3.read(`${id}.mp4`)).equals(content)).toBe(true)
    // The log has it once the upload has ended, after its file is gone.
    while (!logLines.some(line => line.includes('uploading recordings failed; recovered'))) await Bun.sleep(5)
  })

  test('waits longer and longer while the server fails, and asks nothing meanwhile', async () => {
    await record()
    const bucket = new Bucket(s3.options)
    const uploads = new RecordingUploads({ store, clock, log, recordings, bucket, watchUrl: null })
    started.push(uploads)
    s3.fault = () => 'fail'
    while ((metric(uploads, 'strand_recording_uploads_total')?.[1] ?? 0) < 1) {
      await uploads.look()
      await Bun.sleep(5)
    }
    const asked = s3.requests.length
    for (let count = 0; count < 20; count++) await uploads.look()
    expect(s3.requests.length).toBe(asked)
  })

  test('an object of another size is written again; one that is whole is not', async () => {
    const { id, content } = await record()
    await s3.write(`${id}.mp4`, content.subarray(0, 100))
    await uploaded(newUploads(), id)
    expect((await s3.read(`${id}.mp4`)).equals(content)).toBe(true)
    // Killed between the upload and its note.
    const second = await record()
    await s3.write(`${second.id}.mp4`, second.content)
    const asked = s3.requests.length
    await uploaded(newUploads(), second.id)
    expect(s3.requests.slice(asked).every(each => each.startsWith('HEAD'))).toBe(true)
    expect(existsSync(second.file)).toBe(false)
  })

  test('two at a time', async () => {
    const all = [await record(), await record(), await record(), await record()]
    const uploads = newUploads()
    s3.fault = method => (method === 'PUT' ? 'hang' : undefined)
    const asked = s3.requests.length
    await uploads.look()
    while (s3.requests.slice(asked).filter(each => each.startsWith('PUT')).length < 2) await Bun.sleep(5)
    await uploads.look()
    await uploads.look()
    expect(metric(uploads, 'strand_recordings_waiting')).toEqual([4])
    expect(s3.requests.slice(asked).filter(each => each.startsWith('HEAD')).length).toBe(2)
    s3.fault = () => undefined
    await uploads.stop()
    const next = newUploads()
    for (const { id } of all) await uploaded(next, id)
  })

  test('of nodes that share a folder, one uploads', async () => {
    const { id } = await record()
    const [one, two] = [newUploads(), newUploads({}, 'another process')]
    s3.fault = method => (method === 'PUT' ? 'slow' : undefined)
    const asked = s3.requests.length
    await one.look()
    await two.look()
    await uploaded(one, id)
    expect(s3.requests.slice(asked).filter(each => each.startsWith('PUT')).length).toBe(1)
  })

  describe('the object is deleted', () => {
    test.each([
      ['with its video', (_: string, id: string) => store.commands.deleteVideo({ id })],
      ['with its user', (id: string) => store.commands.deleteUser({ id, now: NOW })],
      [
        'by retention',
        async (_: string, id: string) => {
          while ((await store.commands.forgetVideos({ before: isoSeconds(NOW + 100_000) })) > 0);
          expect(await store.videos.find(id)).toBeUndefined()
        },
      ],
    ] as const)('%s, also if the bucket did not answer at that time', async (_, remove) => {
      const { id, user_id } = await record()
      await uploaded(newUploads(), id)
      await remove(user_id, id)
      const uploads = newUploads({ answerMilliseconds: 100 })
      s3.fault = () => 'hang'
      await expect(uploads.removeOrphans()).rejects.toThrow('did not answer in time')
      expect(await s3.keys()).toContain(`${id}.mp4`)
      expect(await fileIn(id)).toMatchObject({ state: 'stored' })
      s3.fault = () => undefined
      await newUploads().removeOrphans()
      expect(await s3.keys()).not.toContain(`${id}.mp4`)
      expect(await fileIn(id)).toBeUndefined()
    })

    test('if the video was deleted during the upload', async () => {
      const { id } = await record()
      const uploads = newUploads()
      s3.fault = method => (method === 'PUT' ? 'slow' : undefined)
      const asked = s3.requests.length
      await uploads.look()
      while (!s3.requests.slice(asked).some(each => each.startsWith('PUT'))) await Bun.sleep(5)
      await store.commands.deleteVideo({ id })
      await uploads.removeOrphans()
      while (!s3.requests.slice(asked).some(each => each.startsWith('DELETE'))) await Bun.sleep(5)
      await uploads.stop()
      await uploads.removeOrphans()
      expect(await s3.keys()).not.toContain(`${id}.mp4`)
      expect(await fileIn(id)).toBeUndefined()
    })

    test('by the node that uploads it, or after a day by another', async () => {
      const { id } = await record()
      const file = { video_id: id, folder: 'another node', url: '', playlist: '' }
      await store.commands.startUpload({ ...file, now: clock.now() })
      await s3.write(`${id}.mp4`, Buffer.from('a part'))
      await store.commands.deleteVideo({ id })
      await newUploads().removeOrphans()
      expect(await fileIn(id)).toMatchObject({ state: 'uploading' })
      clock.advance(25 * 3_600_000)
      await newUploads().removeOrphans()
      expect(await fileIn(id)).toBeUndefined()
      expect(await s3.keys()).not.toContain(`${id}.mp4`)
    })
  })
})
