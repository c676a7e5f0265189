/** What plays in a demo without an encoder, over HTTP. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { CLIP_NAMES, loadClip } from '../../src/demo/clips.ts'
import { type Demo, serveDemo } from '../../src/server/serve-demo.ts'
import { AVC } from '../support/media/codecs.ts'
import { boxTypes, readFragments } from '../support/media/fragments.ts'
import { RtmpClient } from '../support/media/rtmp-client.ts'
import { onEachStore } from '../support/server/each-store.ts'

const START = Date.parse('2026-03-01T19:30:00Z')
const STREAMS = 30

let demo: Demo
let live: { user_login: string; user_id: string; started_at: string; id: string }[]
beforeAll(async () => {
  demo = await serveDemo({
    port: 0,
    rtmpPort: 0,
    seed: 7,
    streams: STREAMS,
    movingViewers: false,
    clock: { at: START, running: false },
    settings: { STRAND_LOG: 'error' },
  })
  live = (await json(`/helix/streams?first=100`)).data
})
afterAll(() => demo?.stop())

const url = (path: string) => new URL(path, demo.world.base_url).href
const get = (path: string, init?: RequestInit) => fetch(url(path), init)
const text = async (path: string) => (await get(path)).text()
// biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely
async function json(path: string, init?: RequestInit): Promise<any> {
  return (await get(path, init)).json()
}
// biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely
async function control(method: string, path: string, body?: object): Promise<any> {
  const response = await fetch(`${demo.world.control_url}${path}`, {
    method,
    headers: { Authorization: `Bearer ${demo.world.operator_token}`, 'Content-Type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  expect(response.status).toBeWithin(200, 300)
  return response.status === 204 ? undefined : ((await response.json()) as { data: unknown }).data
}
const first = () => live[0] as (typeof live)[number]

/** The path of the media playlist that a multivariant playlist names. */
async function mediaPlaylist(login: string): Promise<string> {
  const path = `/live/${login}.m3u8`
  return new URL((await text(path)).trim().split('\n').at(-1) ?? '', url(path)).pathname
}
const segmentsIn = (playlist: string) =>
  [...playlist.matchAll(/^(.+)\.m4s$/gm)].map(([, name]) => name as string)
const beside = (playlist: string, file: string) => new URL(file, url(playlist)).pathname
const pastVideos = (user_id: string) =>
  json(`/helix/videos?user_id=${user_id}&first=100`, {
    headers: { Authorization: `Bearer ${demo.world.broadcaster.token}` },
  }).then(({ data }) => data as { id: string; duration: string; created_at: string }[])

describe('a live channel of the demo', () => {
  test('200 for every one of them: playlists, init segment and segments', async () => {
    expect(live).toHaveLength(STREAMS)
    for (const { user_login } of live) {
      const path = await mediaPlaylist(user_login)
      const segments = segmentsIn(await text(path))
      expect(segments).toHaveLength(6)
      expect(boxTypes(await (await get(beside(path, 'init-0.mp4'))).bytes())).toEqual(['ftyp', 'moov'])
      const last = await (await get(beside(path, `${segments.at(-1)}.m4s`))).bytes()
      expect(readFragments(last).map(({ sequence }) => sequence)).toEqual([Number(segments.at(-1)) + 1])
    }
  })

  test('200 with headers for caches and players of other sites, also for HEAD', async () => {
    const path = await mediaPlaylist(first().user_login)
    const immutable = 'public, max-age=86400, immutable'
    for (const [file, type, cache] of [
      [`/live/${first().user_login}.m3u8`, 'application/vnd.apple.mpegurl', 'max-age=1'],
      [path, 'application/vnd.apple.mpegurl', 'max-age=1'],
      [beside(path, 'init-0.mp4'), 'video/mp4', immutable],
      [beside(path, '3.m4s'), 'video/mp4', immutable],
    ] as const)
      for (const method of ['GET', 'HEAD']) {
        const { status, headers } = await get(file, { method, headers: { 'Accept-Encoding': 'identity' } })
        const length = (await (await get(file)).bytes()).length
        expect([file, method, status]).toEqual([file, method, 200])
        expect(Object.fromEntries(headers)).toMatchObject({
          'content-type': type,
          'cache-control': cache,
          'content-length': String(length),
          'access-control-allow-origin': '*',
          'cross-origin-resource-policy': 'cross-origin',
          'x-content-type-options': 'nosniff',
        })
      }
    expect((await get(path, { method: 'OPTIONS' })).status).toBe(204)
    expect((await get(path, { method: 'POST' })).status).toBe(404)
  })

  test('200 for the login in capital letters', async () => {
    expect(await text(`/live/${first().user_login.toUpperCase()}.m3u8`)).toBe(
      await text(`/live/${first().user_login}.m3u8`),
    )
  })

  test('200 with what is right after the clock was moved, at once', async () => {
    const path = await mediaPlaylist(first().user_login)
    const before = Number(segmentsIn(await text(path))[0])
    const age = (START - Date.parse(first().started_at)) / 1000
    expect(before).toBe(Math.floor(age / 2))
    demo.demoControls.clock.advance(7_200_000)
    expect(Number(segmentsIn(await text(path))[0])).toBe(before + 3600)
    expect((await get(beside(path, `${before + 3605}.m4s`))).status).toBe(200)
    demo.demoControls.clock.advance(-7_200_000)
    expect(Number(segmentsIn(await text(path))[0])).toBe(before)
  })

  test('404 not_live for a segment to come, another broadcast, another file, and a channel that is not live', async () => {
    const path = await mediaPlaylist(first().user_login)
    const last = Number(segmentsIn(await text(path)).at(-1))
    expect((await get(beside(path, `${last}.m4s`))).status).toBe(200)
    const [, stream, version] = /(\d+)-([0-9a-f]{8})/.exec(path) ?? []
    for (const missing of [
      beside(path, `${last + 1}.m4s`),
      beside(path, `${last}.1.m4s`),
      beside(path, '01.m4s'),
      beside(path, 'init-1.mp4'),
      beside(path, 'other.m3u8'),
      path.replace(`${stream}`, `${Number(stream) + 1}`),
      path.replace(`${version}`, '00000000'),
      path.replace(first().user_login, live[1]?.user_login ?? ''),
      '/live/nobody_at_all.m3u8',
    ]) {
      const answer = await get(missing)
      expect([missing, answer.status]).toEqual([missing, 404])
      expect((await answer.json()).message).toMatch(/^The channel \w+ is not live\.$/)
    }
  })

  test('the page of the channel plays it', async () => {
    const page = await text(`/${first().user_login}`)
    expect(page).toContain(`/live/${first().user_login}.m3u8`)
    expect(page).not.toContain('does not play on this page')
  })

  test('the home page plays the one with the most viewers', async () => {
    const page = await (await get('/', { headers: { Accept: 'text/html' } })).text()
    expect(page).toContain(`/live/${first().user_login}.m3u8`)
  })

  test('its page adds no viewer to those that are invented, and does to others', async () => {
    const invented = async (user_id: string) =>
      (await json(`/site/broadcast?user_id=${user_id}`)).broadcast.hasInventedViewers
    expect(await invented(first().user_id)).toBe(true)
    const { id } = demo.world.offline
    await control('PUT', `/channels/${id}/stream`, {})
    expect(await invented(id)).toBeUndefined()
    await control('DELETE', `/channels/${id}/stream`)
  })

  test('a viewer who is logged in earns there, and is not counted', async () => {
    const { id } = demo.world.viewer
    await control('DELETE', `/campaigns/${demo.world.campaign.id}`)
    const [{ game_id }] = await control('GET', `/channels/${first().user_id}`)
    const [organization] = await control('GET', '/organizations?first=1')
    const [benefit] = await control('POST', '/benefits', { name: 'Kite', organization_id: organization.id })
    const campaign_id = crypto.randomUUID()
    await control('PUT', `/campaigns/${campaign_id}`, {
      name: 'Reef week',
      organization_id: organization.id,
      game_id,
      starts_at: new Date(START - 86_400_000).toISOString(),
      ends_at: new Date(START + 86_400_000).toISOString(),
      drops: [{ id: crypto.randomUUID(), name: 'First', required_minutes: 2, benefit_ids: [benefit.id] }],
    })
    await control('POST', `/campaigns/${campaign_id}/publish`)
    const [client] = await control('POST', '/clients', { name: 'Player', organization_id: organization.id })
    await control('PATCH', `/clients/${client.id}`, { counts_watching: true })
    const [{ access_token }] = await control('POST', '/tokens', { client_id: client.id, user_id: id })
    const headers = { Authorization: `Bearer ${access_token}`, 'Client-Id': client.id }
    const post = async (path: string, body: object) =>
      (await get(path, { method: 'POST', headers, body: JSON.stringify(body) })).json()
    const { data } = await post('/playback/session', { login: first().user_login })
    expect(data[0].earns_drops).toBe(true)
    const answer = await post('/playback/heartbeat', { session: data[0].session })
    expect(answer).toEqual({ data: [{ campaign_id, minutes: 0, claimable: [] }], reason: 'too_early' })
    expect(await text('/metrics')).toContain('strand_playback_sessions 0\n')
    await control('POST', `/campaigns/${campaign_id}/stop`)
  })

  test('its invented viewers stay when a player sends heartbeats; those of other channels are counted', async () => {
    const post = (path: string, body: object) => get(path, { method: 'POST', body: JSON.stringify(body) })
    const watch = async (login: string) => {
      const { data } = await (await post('/playback/session', { login })).json()
      expect((await post('/playback/heartbeat', { session: data[0].session })).status).toBe(204)
      return text('/metrics')
    }
    expect(await watch(first().user_login)).toContain('strand_playback_sessions 0\n')
    const { id, login } = demo.world.users.find(user => user.id === demo.world.offline.id) ?? {
      id: '',
      login: '',
    }
    await control('PUT', `/channels/${id}/stream`, {})
    expect((await get(`/live/${login}.m3u8`)).status).toBe(200)
    expect(await watch(login)).toContain('strand_playback_sessions 1\n')
    await control('DELETE', `/channels/${id}/stream`)
  })
})

test('a broadcast that has ended has a playlist with an end for a minute, and then none', async () => {
  const { user_login, user_id } = live[4] as (typeof live)[number]
  const path = await mediaPlaylist(user_login)
  const before = await text(path)
  await control('DELETE', `/channels/${user_id}/stream`)
  demo.demoControls.clock.advance(50_000)
  expect(await text(path)).toBe(`${before}#EXT-X-ENDLIST\n`)
  const last = Number(segmentsIn(before).at(-1))
  expect((await get(beside(path, `${last}.m4s`))).status).toBe(200)
  expect((await get(beside(path, `${last + 1}.m4s`))).status).toBe(404)
  expect((await get(`/live/${user_login}.m3u8`)).status).toBe(404)
  demo.demoControls.clock.advance(10_000)
  expect((await get(path)).status).toBe(404)
  demo.demoControls.clock.advance(-60_000)
  live = live.filter(each => each.user_id !== user_id)
})

describe('a video of the demo', () => {
  test('200 with a playlist of its length, and every segment of it', async () => {
    const videos = await pastVideos(demo.world.broadcaster.id)
    const past = videos.filter(({ created_at }) => created_at < first().started_at)
    expect(past.length).toBeGreaterThan(2)
    for (const { id, duration } of past) {
      const path = `/videos/${id}.m3u8`
      const answer = await get(path)
      expect(answer.headers.get('cache-control')).toBe('max-age=60')
      const playlist = await answer.text()
      expect(playlist).toContain('#EXT-X-PLAYLIST-TYPE:VOD\n')
      const total = [...playlist.matchAll(/#EXTINF:([0-9.]+),/g)].reduce(
        (sum, [, each]) => sum + Number(each),
        0,
      )
      const [, hours = 0, minutes = 0, seconds = 0] = /^(?:(\d+)h)?(?:(\d+)m)?(\d+)s$/.exec(duration) ?? []
      const length = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)
      expect(total - length).toBeWithin(0, 2)
      const [head, last] = [segmentsIn(playlist)[0], segmentsIn(playlist).at(-1)]
      const bytes = await (await get(beside(path, `${last}.m4s`))).bytes()
      const fragments = readFragments(bytes)
      expect((fragments[0]?.tracks[0]?.decodeTime as bigint) / 90_000n + BigInt(fragments.length * 2)).toBe(
        BigInt(total),
      )
      expect(readFragments(await (await get(beside(path, `${head}.m4s`))).bytes())).toHaveLength(6)
      const init = playlist.match(/URI="([^"]+)"/)?.[1] ?? ''
      const answered = await get(beside(path, init), { method: 'HEAD' })
      expect(answered.headers.get('cache-control')).toBe('public, max-age=86400, immutable')
    }
  })

  test('200 with a playlist that grows while its broadcast runs, up to now', async () => {
    const [running] = await pastVideos(first().user_id)
    const path = `/videos/${running?.id}.m3u8`
    const answer = await get(path)
    expect(answer.headers.get('cache-control')).toBe('max-age=1')
    const before = await answer.text()
    expect(before).toContain('#EXT-X-PLAYLIST-TYPE:EVENT\n')
    demo.demoControls.clock.advance(60_000)
    const after = await text(path)
    demo.demoControls.clock.advance(-60_000)
    expect(after.startsWith(before)).toBe(true)
    expect(segmentsIn(after)).toHaveLength(segmentsIn(before).length + 5)
  })

  test('404 for segments behind its end, other names, and a video that does not exist', async () => {
    const { id } = (await pastVideos(first().user_id)).at(-1) as { id: string }
    const path = `/videos/${id}.m3u8`
    const segments = segmentsIn(await text(path))
    const folder = (segments[0] as string).replace(/[^/]+$/, '')
    for (const missing of [
      beside(path, `${folder}${segments.length}.m4s`),
      beside(path, `${folder}0.7.m4s`),
      beside(path, `${folder}init-1.mp4`),
      beside(path, `${id}/00000000/0.m4s`),
      '/videos/999999999.m3u8',
    ])
      expect([missing, (await get(missing)).status]).toEqual([missing, 404])
  })
})

test('cards, posters, broadcasts and videos of a channel show the same scene', async () => {
  const scenes = new Map<string, string>()
  for (const name of CLIP_NAMES) scenes.set((await loadClip(name)).version, name)
  const shown = async (path: string) =>
    /scenes\/([a-z]+)-/.exec((await get(path)).headers.get('etag') ?? '')?.[1]
  for (const { user_login, user_id } of live) {
    const scene = scenes.get((await mediaPlaylist(user_login)).match(/-([0-9a-f]{8})\//)?.[1] ?? '')
    expect(await shown(`/images/channels/${user_id}-440x248.png`)).toBe(scene as string)
    expect(await shown(`/images/channels/${user_id}-1280x720.svg`)).toBe(scene as string)
  }
  const [, , video] = await pastVideos(first().user_id)
  const version = /\/([0-9a-f]{8})\//.exec(await text(`/videos/${video?.id}.m3u8`))?.[1]
  expect(await shown(`/images/videos/${video?.id}-320x180.png`)).toBe(scenes.get(version ?? '') as string)
  // Other pictures are drawn from the id.
  expect(await shown(`/images/users/${first().user_id}-300x300.png`)).toBeUndefined()
})

test('a channel that is broadcast has no clip, neither live nor as a video, also while its encoder reconnects', async () => {
  const { id, login, token } = demo.world.broadcaster
  const key = await json(`/helix/streams/key?broadcaster_id=${id}`, {
    headers: { Authorization: `Bearer ${token}` },
  })
  const segment = beside(await mediaPlaylist(login), '3.m4s')
  const [running, earlier] = await pastVideos(id)
  const paths = [`/live/${login}.m3u8`, segment, `/videos/${running?.id}.m3u8`]
  const statuses = () => Promise.all(paths.map(async path => (await get(path)).status))
  expect(await statuses()).toEqual([200, 200, 200])
  const encoder = await RtmpClient.connect(Number(new URL(demo.world.rtmp?.url ?? '').port))
  expect(await encoder.publish(key.data[0].stream_key)).toBe('NetStream.Publish.Start')
  encoder.video(0, AVC.header)
  expect(await statuses()).toEqual([404, 404, 404])
  expect((await get(`/videos/${earlier?.id}.m3u8`)).status).toBe(200)
  encoder.close()
  await encoder.closed()
  expect(await statuses()).toEqual([404, 404, 404])
})

test('the home page shows the channel with the most viewers large, not the one with an encoder', async () => {
  const { id, token } = demo.world.offline
  const key = await json(`/helix/streams/key?broadcaster_id=${id}`, {
    headers: { Authorization: `Bearer ${token}` },
  })
  const encoder = await RtmpClient.connect(Number(new URL(demo.world.rtmp?.url ?? '').port))
  expect(await encoder.publish(key.data[0].stream_key)).toBe('NetStream.Publish.Start')
  encoder.video(0, AVC.header)
  while ((await json(`/helix/streams?user_id=${id}`)).data.length === 0) await Bun.sleep(20)
  const [most] = (await json('/helix/streams?first=1')).data
  expect(most.user_id).not.toBe(id)
  const home = await (await get('/', { headers: { Accept: 'text/html' } })).text()
  expect(/<section class="featured".*?<h2><a href="\/([a-z0-9_]+)"/s.exec(home)?.[1]).toBe(most.user_login)
  encoder.close()
  await encoder.closed()
})

onEachStore('a server without a demo world to show', {}, current => {
  test('404 for playlists of what is live, and of videos', async () => {
    const { url: base, world } = current()
    const answer = await fetch(`${base}/live/${world.broadcaster.login}.m3u8`)
    expect(answer.status).toBe(404)
    expect((await fetch(`${base}/videos/1.m3u8`)).status).toBe(404)
  })
})
