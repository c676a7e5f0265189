import { describe, expect, test } from 'bun:test'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { NO_PEER, RequestContext } from '../../src/http/request-context.ts'
import { answerThumbnail } from '../../src/http/responses/thumbnail-response.ts'
import { createLog } from '../../src/kit/telemetry/log.ts'
import { Thumbnails } from '../../src/media/thumbnails.ts'
import { Unavailable } from '../../src/store/errors.ts'
import { decodePng } from '../images/decode-png.ts'
import { onEachStore } from '../support/server/each-store.ts'
import type { TestServer } from '../support/server.ts'

const ELSEWHERE = 'http://two.example.org'
const JPEG = Buffer.from([0xff, 0xd8, 0xff, 0xe0, 1, 2, 3])

onEachStore('thumbnails over HTTP', { config: { thumbnails: true, record: true } }, server => {
  const get = (path: string, headers: Record<string, string> = {}) =>
    fetch(`${server().url}/images/${path}`, { headers, redirect: 'manual' })
  const publishAt = async ({ strand, control }: TestServer, login: string, watch_url: string) => {
    const [{ id }] = await control('POST', '/users', { login })
    const { store, clock } = strand.services
    const now = clock.now()
    const ids = { stream_id: `${id}1`, video_id: `${id}2`, watch_url, now }
    await store.commands.openSession({
      adapter: 'embedded',
      server: 'two',
      session: login,
      user_id: id,
      ...ids,
    })
    return { id, video_id: ids.video_id }
  }
  const keepThumbnail = (video_id: string) => {
    // The spool folder of a test server is its data folder.
    const folder = join(server().strand.services.spoolFolder, 'recordings')
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, `${video_id}.jpg`), JPEG)
  }

  describe('a channel', () => {
    test('200 that is not live has its drawn picture, for 30 s in caches because it may go live', async () => {
      const answer = await get('channels/33214-120x80.png')
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'image/png'])
      expect(answer.headers.get('cache-control')).toBe('public, max-age=30')
      expect(decodePng(await answer.bytes())).toMatchObject({ width: 120, height: 80 })
      const again = await get('channels/33214-120x80.png', {
        'If-None-Match': answer.headers.get('etag') ?? '',
      })
      expect([again.status, again.headers.get('cache-control')]).toEqual([304, 'public, max-age=30'])
    })

    test('307 that is live on another node has its thumbnail there', async () => {
      const { id } = await publishAt(server(), 'far_away', ELSEWHERE)
      const answer = await get(`channels/${id}-320x180.png`)
      expect(answer.status).toBe(307)
      expect(answer.headers.get('location')).toBe(
        `${ELSEWHERE}/images/channels/${id}-320x180.png?redirected=1`,
      )
      expect(answer.headers.get('cache-control')).toBe('public, max-age=30')
      expect(answer.headers.get('access-control-allow-origin')).toBe('*')
      expect((await get(`channels/${id}-320x180.svg`)).headers.get('content-type')).toBe('image/svg+xml')
      expect((await get(`channels/${id}-320x9999.png`)).status).toBe(400)
    })

    test('200 after a redirect has its drawn picture: no one is redirected twice', async () => {
      const { id } = await publishAt(server(), 'close_by', ELSEWHERE)
      const answer = await get(`channels/${id}-320x180.png?redirected=1`)
      expect(answer.headers.get('content-type')).toBe('image/png')
    })

    test('200 on a page of this server has its drawn picture: pages load nothing from other hosts (D-152)', async () => {
      const { id } = await publishAt(server(), 'on_a_page', ELSEWHERE)
      const answer = await get(`channels/${id}-320x180.png`, { 'Sec-Fetch-Site': 'same-origin' })
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'image/png'])
      expect(answer.headers.get('vary')).toBe('Sec-Fetch-Site')
      expect((await get(`channels/${id}-320x180.png`, { 'Sec-Fetch-Site': 'cross-site' })).status).toBe(307)
    })
  })

  describe('a video', () => {
    test('200 with a thumbnail next to its recording shows it, 304 with its ETag, drawn when it is deleted', async () => {
      const { video_id } = await publishAt(server(), 'recorded', '')
      const path = `videos/${video_id}-%{width}x%{height}.png`
      const drawn = await get(path)
      expect(drawn.headers.get('content-type')).toBe('image/png')
      expect(drawn.headers.get('cache-control')).toBe('public, max-age=300')
      keepThumbnail(video_id)
      expect((await get(path)).headers.get('content-type')).toBe('image/png')
      await server().strand.services.store.commands.noteRecording({ video_id, url: '' })
      const shown = await get(path)
      expect([shown.status, shown.headers.get('content-type')]).toEqual([200, 'image/jpeg'])
      expect(shown.headers.get('x-content-type-options')).toBe('nosniff')
      expect(Buffer.from(await shown.bytes())).toEqual(JPEG)
      const etag = shown.headers.get('etag') ?? ''
      expect((await get(path, { 'If-None-Match': etag })).status).toBe(304)
      await server().execute(`delete from videos where id = '${video_id}'`)
      expect((await get(path)).headers.get('content-type')).toBe('image/png')
    })

    test('307 whose recording is on another node has its thumbnail there', async () => {
      const { video_id } = await publishAt(server(), 'recorded_far', '')
      await server().strand.services.store.commands.noteRecording({ video_id, url: ELSEWHERE })
      const answer = await get(`videos/${video_id}-320x180.png`)
      expect([answer.status, answer.headers.get('location')]).toEqual([
        307,
        `${ELSEWHERE}/images/videos/${video_id}-320x180.png?redirected=1`,
      ])
    })
  })

  test('200 whose recording is a file of another media server has its drawn picture', async () => {
    const { video_id } = await publishAt(server(), 'recorded_there', '')
    const url = 'https://media.example/recordings/recorded_there-1.flv'
    await server().strand.services.store.commands.noteRecording({ video_id, url })
    const answer = await get(`videos/${video_id}-320x180.png`)
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'image/png'])
  })

  test('200 while the store is unavailable the picture is drawn', async () => {
    const { store, directory, mediaUrl } = server().strand.services
    const unavailable = async () => {
      throw new Unavailable('the disk is full')
    }
    const services = {
      store: { ...store, videos: { ...store.videos, recordingUrl: unavailable } },
      directory,
      mediaUrl,
    }
    const thumbnails = new Thumbnails({
      ffmpeg: undefined,
      log: createLog({ level: 'silent', readable: false }),
    })
    const name = { kind: 'videos', id: '1', width: 320, height: 180, format: 'png' } as const
    const context = new RequestContext(new Request(`${server().url}/images/videos/1-320x180.png`), NO_PEER)
    expect(
      await answerThumbnail(name, { thumbnails, recordings: undefined, services }, context),
    ).toBeUndefined()
  })

  test('200 users and games are drawn, for a day in caches', async () => {
    for (const kind of ['users', 'games']) {
      const answer = await get(`${kind}/33214-120x80.png`)
      expect(answer.headers.get('cache-control')).toBe('public, max-age=86400')
      expect(answer.headers.get('content-type')).toBe('image/png')
    }
  })
})
