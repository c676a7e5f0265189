/** Recordings that this node does not have: in object storage (D-263), or on several nodes (D-261). */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '../../src/config/config.ts'
import { Bucket } from '../../src/media/bucket.ts'
import { Recording } from '../../src/media/recording/recording.ts'
import { RecordedPublisher, recordingOptions } from '../support/media/recorder.ts'
import { S3Server } from '../support/media/s3-server.ts'
import { engines, startTestServer, type TestServer } from '../support/server.ts'

const NODES = ['https://one.example', 'https://two.example'] as const
const PUBLIC = 'https://cdn.example/recordings'
/** A secret that must be in no answer. */
const SECRET = 'S3RVER-secret-that-nothing-shows'

describe.each([...engines])('a recording that is elsewhere, on %s', engine => {
  const folder = mkdtempSync(join(tmpdir(), 'strand-stored-'))
  let s3: S3Server
  let server: TestServer
  let videos = 0
  beforeAll(async () => {
    s3 = await S3Server.start()
    const { objectStorage } = readConfig({}, undefined, s3.environment)
    server = await startTestServer(engine, { demo: false, config: { objectStorage } })
  })
  afterAll(async () => {
    await server.stop()
    await s3.stop()
    rmSync(folder, { recursive: true })
  })

  const newVideo = async (title = 'A "film"') => {
    videos += 1
    const { store } = server.strand.services
    const user = server.world.users[0]?.id ?? ''
    const id = String(9_000 + videos)
    await server.execute(
      `insert into videos (id, user_id, created_at, ended_at, title)
       values ('${id}', '${user}', '2026-01-01T00:00:00Z', '2026-01-01T01:00:00Z', '${title}')`,
    )
    return { id, store }
  }
  /** A file that begins at a position of the stream, with its playlist. */
  const record = async (name: string, position = 0) => {
    const file = join(folder, `${name}.mp4`)
    const recording = new Recording(recordingOptions(file))
    new RecordedPublisher(recording, position).play(12).end()
    await recording.close()
    return { content: readFileSync(file), playlist: readFileSync(Recording.playlistFile(file), 'utf8') }
  }
  const storeFile = async (id: string, name: string) => {
    const { store } = server.strand.services
    const { content, playlist } = await record(name)
    await s3.write(`${id}.mp4`, content)
    const file = { video_id: id, folder: 'elsewhere', playlist, now: Date.now() }
    await store.commands.startUpload({ ...file, url: '' })
    await store.commands.endUpload(file)
    return { content, playlist }
  }
  const ask = (path: string, init: RequestInit = {}) =>
    fetch(`${server.url}${path}`, { redirect: 'manual', ...init })

  test('307 to a URL that is signed for an hour, for GET, HEAD and ranges, with CORS', async () => {
    const { id } = await newVideo()
    const { content } = await storeFile(id, id)
    for (const method of ['GET', 'HEAD']) {
      const answer = await ask(`/videos/${id}.mp4`, { method })
      expect(answer.status).toBe(307)
      expect(answer.headers.get('access-control-allow-origin')).toBe('*')
      const location = new URL(answer.headers.get('location') ?? '')
      expect(location.origin).toBe(s3.options.endpoint)
      expect(location.searchParams.get('X-Amz-Expires')).toBe('3600')
      const read = await fetch(location, { method })
      expect([read.status, Number(read.headers.get('content-length'))]).toEqual([200, content.length])
      if (method === 'GET') expect(Buffer.from(await read.arrayBuffer()).equals(content)).toBe(true)
    }
    const range = await fetch(`${server.url}/videos/${id}.mp4`, { headers: { Range: 'bytes=4-7' } })
    expect([range.status, await range.text()]).toEqual([206, 'ftyp'])
    expect(server.logLines.join('\n')).not.toContain('X-Amz-Signature')
  })

  test('307 with ?download to a URL that gives the file its name', async () => {
    const { id } = await newVideo()
    await storeFile(id, id)
    const read = await fetch(`${server.url}/videos/${id}.mp4?download`)
    expect(read.status).toBe(200)
    expect(read.headers.get('content-disposition')).toBe(
      `attachment; filename="A film.mp4"; filename*=UTF-8''A%20film.mp4`,
    )
  })

  test('200 of the playlist on every node, with our path for ranges, compressed', async () => {
    const { id } = await newVideo()
    const { playlist } = await storeFile(id, id)
    const answer = await ask(`/videos/${id}.m3u8`)
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'max-age=60'])
    const text = await answer.text()
    expect(text.replaceAll('.000000', '')).toContain(`${id}.mp4\n#EXT-X-ENDLIST`)
    expect(text.match(/BYTERANGE:.*/g)).toEqual(playlist.match(/BYTERANGE:.*/g))
    // The bucket has nothing to do with it.
    await s3.leave()
    expect((await ask(`/videos/${id}.m3u8`)).status).toBe(200)
    await s3.listen()
    const zipped = await ask(`/videos/${id}.m3u8`, { headers: { 'Accept-Encoding': 'gzip' } })
    expect(zipped.headers.get('content-encoding')).toBe('gzip')
  })

  test('404 of a part that it does not have, and of a deleted video', async () => {
    const { id, store } = await newVideo()
    await storeFile(id, id)
    expect((await ask(`/videos/${id}.mp4?part=2`)).status).toBe(404)
    await store.commands.deleteVideo({ id })
    for (const type of ['mp4', 'm3u8']) expect((await ask(`/videos/${id}.${type}`)).status).toBe(404)
  })

  test('the page of a video may read from the bucket; pages that play nothing may not', async () => {
    const { id } = await newVideo()
    await storeFile(id, id)
    const policy = (await ask(`/videos/${id}`)).headers.get('content-security-policy') ?? ''
    for (const directive of ['connect-src', 'media-src'])
      expect(policy.split('; ').find(each => each.startsWith(directive))).toContain(s3.options.endpoint)
    const other = (await ask('/login')).headers.get('content-security-policy') ?? ''
    expect(other).not.toContain(s3.options.endpoint)
  })

  test('on two nodes: the playlist lists both, with a discontinuity and absolute URLs; parts have URLs', async () => {
    const { id, store } = await newVideo()
    const parts = [await record(`${id}-a`), await record(`${id}-b`, 30_000)]
    for (const [index, { playlist }] of parts.entries())
      await store.commands.noteRecordingFile({
        ...{ video_id: id, folder: `folder ${index}`, url: NODES[index] ?? '', playlist },
        ...{ isPublished: true, now: Date.now() + index },
      })
    const text = await (await ask(`/videos/${id}.m3u8`)).text()
    const [one, two] = [`${NODES[0]}/videos/${id}.mp4`, `${NODES[1]}/videos/${id}.mp4?part=2`]
    expect(text.split('#EXT-X-DISCONTINUITY').length).toBe(2)
    const [before = '', after = ''] = text.split('#EXT-X-DISCONTINUITY')
    expect(before).toContain(`#EXT-X-MAP:URI="${one}"`)
    expect(after).toContain(`#EXT-X-MAP:URI="${two}"`)
    expect([before.includes(two), after.includes(one)]).toEqual([false, false])
    // What neither of them received is a gap, so that positions are those of the stream.
    const seconds = text.split('\n').flatMap(line => /^#EXTINF:([0-9.]+)/.exec(line)?.[1] ?? [])
    expect(seconds.map(Number).reduce((a, b) => a + b, 0)).toBeWithin(41.9, 42.1)
    expect(after.split('#EXT-X-GAP').length - 1).toBe(2)
    for (const [part, node] of [
      ['', NODES[0]],
      ['?part=2', NODES[1]],
    ] as const) {
      const answer = await ask(`/videos/${id}.mp4${part}`)
      const mark = part === '' ? '?redirected=1' : `${part}&redirected=1`
      expect([answer.status, answer.headers.get('location')]).toEqual([
        307,
        `${node}/videos/${id}.mp4${mark}`,
      ])
    }
    const download = await ask(`/videos/${id}.mp4?part=2&download`)
    expect(download.headers.get('location')).toContain('?part=2&download&redirected=1')
    const page = await ask(`/videos/${id}`)
    const policy = page.headers.get('content-security-policy') ?? ''
    for (const node of NODES) expect(policy).toContain(node)
    expect(await page.text()).toContain(`/videos/${id}.m3u8`)
  })

  test('with a public URL: 307 to it, and to a signed one for ?download', async () => {
    const { id } = await newVideo()
    await storeFile(id, id)
    const bucket = new Bucket({ ...s3.options, secretAccessKey: SECRET, publicUrl: PUBLIC })
    expect(bucket.viewerUrl(`${id}.mp4`, 'GET')).toBe(`${PUBLIC}/${id}.mp4`)
    const signed = bucket.viewerUrl(`${id}.mp4`, 'GET', 'attachment')
    expect(signed).toStartWith(s3.options.endpoint)
    expect(signed).not.toContain(SECRET)
    expect(bucket.urls).toEqual([s3.options.endpoint, PUBLIC])
  })
})
