/** Broadcasts as HLS over HTTP (D-250 to D-259), with a publisher over RTMP. */
import { describe, expect, test } from 'bun:test'
import { AVC, avcHeader, CONFIGS } from '../support/media/codecs.ts'
import { HlsPlayer, parsePlaylist, TestPublisher } from '../support/media/hls.ts'
import { readMp4 } from '../support/media/read-mp4.ts'
import { onEachStore } from '../support/server/each-store.ts'

const config = { rtmpListen: { host: '127.0.0.1', port: 0 }, reconnectGraceSeconds: 1 }
const CORS = 'access-control-allow-origin'

onEachStore('a broadcast', { config }, (current, engine) => {
  let channels = 0
  const newChannel = async () => {
    channels += 1
    const login = `live_${channels}`
    const [{ id }] = await current().control('POST', '/users', { login })
    const [{ stream_key: key }] = await current().control('POST', `/channels/${id}/stream-key/rotate`, {})
    return { id: id as string, login, key: key as string }
  }
  const publish = async (options: { group?: number; hasSound?: boolean } = {}) => {
    const channel = await newChannel()
    const { rtmpPort } = current().strand
    const publisher = await TestPublisher.start({ rtmpPort, key: channel.key }, options)
    return { ...channel, publisher }
  }
  const watch = (login: string) => HlsPlayer.open(current().url, login)
  const until = async <T>(ask: () => Promise<T>, isRight: (value: T) => boolean): Promise<T> => {
    for (;;) {
      const value = await ask()
      if (isRight(value)) return value
      await Bun.sleep(10)
    }
  }

  test('plays: a multivariant playlist names a media playlist, whose segments are what was published', async () => {
    const { login, publisher } = await publish()
    publisher.send(9)
    await until(
      () => fetch(`${current().url}/live/${login}.m3u8`).then(response => response.text()),
      text => text.includes('FRAME-RATE=25'),
    )
    const multivariant = await until(
      () => fetch(`${current().url}/live/${login.toUpperCase()}.m3u8`),
      ({ status }) => status === 200,
    )
    expect(multivariant.headers.get('cache-control')).toBe('max-age=1')
    expect(multivariant.headers.get('content-type')).toBe('application/vnd.apple.mpegurl')
    expect(await multivariant.text()).toMatch(
      new RegExp(
        `^#EXTM3U\\n#EXT-X-VERSION:9\\n#EXT-X-STREAM-INF:BANDWIDTH=[0-9]+,CODECS="avc1.42c00a,mp4a.40.2",RESOLUTION=64x48,FRAME-RATE=2[0-9.]+\\n${login}/[0-9a-f-]{36}/index.m3u8\\n$`,
      ),
    )
    const player = await watch(login)
    publisher.send(8)
    // The window begins with the group of pictures that was the last when a player asked.
    const playlist = await player.playlistWith(3)
    expect(playlist).toMatchObject({
      targetSeconds: 2,
      partSeconds: 0.5,
      hasEnded: false,
      discontinuitySequence: 0,
    })
    // On a busy machine the first have left the playlist, though not the server.
    const from = playlist.segments[0]?.sequence ?? 0
    expect(playlist.segments.slice(0, 4).map(({ sequence, seconds }) => [sequence, seconds])).toEqual([
      [from, 2],
      [from + 1, 2],
      [from + 2, 2],
      [from + 3, 2],
    ])
    const [first, second] = playlist.segments
    expect((second?.startsAt ?? 0) - (first?.startsAt ?? 0)).toBe(2000)
    expect(Math.abs((first?.startsAt ?? 0) - Date.now())).toBeLessThan(60_000)
    const init = await player.bytes(first?.init ?? '')
    const segments = await Promise.all([0, 1, 2, 3].map(sequence => player.bytes(`${sequence}.m4s`)))
    const [video, audio] = await readMp4(init, ...segments)
    const times = video?.samples.map(({ seconds }) => Math.round(seconds * 1000)) ?? []
    expect((times[0] ?? 1) % 2000).toBe(0)
    expect(times).toEqual(Array.from({ length: 200 }, (_, index) => (times[0] ?? 0) + index * 40))
    expect(audio?.samples.length).toBeWithin(340, 350)
    const parts = await Promise.all(
      (playlist.segments.at(-1)?.parts ?? []).map(({ uri }) => player.bytes(uri)),
    )
    if (playlist.segments.at(-1)?.uri !== undefined)
      expect(Buffer.concat(parts)).toEqual(
        Buffer.from(await player.bytes(`${playlist.segments.at(-1)?.sequence}.m4s`)),
      )
    publisher.close()
  })

  test('answers a request for a part as soon as there is one, and names the next', async () => {
    const { login, publisher } = await publish()
    publisher.send(0.2)
    const player = await watch(login)
    publisher.send(2.4)
    const { segments, hint } = await player.playlist()
    expect([segments.length, segments.at(-1)?.parts.length, hint]).toEqual([2, 1, '1.1.m4s'])
    let isThere = false
    const [blocked, hinted] = [player.ask('?_HLS_msn=1&_HLS_part=1'), player.get('1.1.m4s')]
    void blocked.then(() => {
      isThere = true
    })
    publisher.send(0.2)
    await until(
      () => player.playlist(),
      () => true,
    )
    expect(isThere).toBe(false)
    publisher.send(0.4)
    const answer = await blocked
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'max-age=6'])
    expect(parsePlaylist(await answer.text()).segments.at(-1)?.parts.length).toBe(2)
    const part = await hinted
    expect([part.status, part.headers.get('cache-control')]).toEqual([
      200,
      'public, max-age=86400, immutable',
    ])
    const { size } = await part.blob()
    expect(part.headers.get('content-length')).toBe(String(size))
    // Behind the last part of a segment comes the first of the next: the group ends with the fourth part.
    const behind = player.ask('?_HLS_msn=1&_HLS_part=9')
    const never = player.get('1.9.m4s')
    expect((await never).status).toBe(404)
    publisher.send(2)
    expect(parsePlaylist(await (await behind).text()).segments.at(-1)).toMatchObject({ sequence: 2 })
    publisher.close()
  })

  test('is refused with a reason: too far, malformed, unknown, not live', async () => {
    const { login, publisher } = await publish()
    publisher.send(0.2)
    const player = await watch(login)
    publisher.send(4)
    await player.playlistWith(1)
    const status = async (response: Promise<Response>) => {
      const { status: code, headers } = await response
      return [code, headers.get('strand-error'), headers.get(CORS)]
    }
    expect(await status(player.ask('?_HLS_msn=4&_HLS_part=0'))).toEqual([400, 'playlist_too_far', '*'])
    expect(await status(player.ask('?_HLS_part=0'))).toEqual([400, 'missing_parameter', '*'])
    for (const search of [
      '?_HLS_msn=',
      '?_HLS_msn=-1',
      '?_HLS_msn=1.5',
      '?_HLS_msn=1&_HLS_part=x',
      '?_HLS_msn=9999999999999',
    ])
      expect(await status(player.ask(search))).toEqual([400, 'malformed_parameter', '*'])
    expect((await player.ask('?other=1&_HLS_skip=YES')).status).toBe(200)
    for (const file of ['9.m4s', '9.9.m4s', 'init-7.mp4', '0.99.m4s'])
      expect(await status(player.get(file))).toEqual([404, 'not_live', '*'])
    for (const file of ['x.m4s', 'index.m3u', '0.m4s.mp4', '../../../etc/passwd'])
      expect((await player.get(file)).status).toBe(404)
    const elsewhere = new HlsPlayer(
      new URL(`/live/${login}/00000000-0000-0000-0000-000000000000/index.m3u8`, current().url),
    )
    expect(await status(elsewhere.ask())).toEqual([404, 'not_live', '*'])
    expect(await status(fetch(`${current().url}/live/nobody_here.m3u8`))).toEqual([404, 'not_live', '*'])
    for (const path of [
      `/live/${login}.flv`,
      `/live/${login}`,
      '/live/',
      `/live/${login}.m3u8x`,
      '/live/a%00.m3u8',
    ])
      expect((await fetch(current().url + path)).status).toBe(404)
    publisher.close()
  })

  test('has HEAD, CORS and a preflight wherever it has GET; other methods are 404', async () => {
    const { login, publisher } = await publish()
    publisher.send(0.2)
    const player = await watch(login)
    publisher.send(2.4)
    await player.playlist()
    const urls = [
      `${current().url}/live/${login}.m3u8`,
      player.mediaUrl,
      ...['init-0.mp4', '0.m4s', '0.1.m4s'].map(file => new URL(file, player.mediaUrl)),
    ]
    for (const url of urls) {
      const [get, head] = [
        await fetch(url, { headers: { Range: 'bytes=5-10' } }),
        await fetch(url, { method: 'HEAD' }),
      ]
      expect([get.status, head.status, await head.text()]).toEqual([200, 200, ''])
      const { size } = await get.blob()
      for (const name of ['content-type', 'cache-control', CORS, 'cross-origin-resource-policy'])
        expect([name, head.headers.get(name)]).toEqual([name, get.headers.get(name)])
      expect([get.headers.get('content-length'), head.headers.get('content-length')]).toEqual([
        String(size),
        String(size),
      ])
      expect(get.headers.get(CORS)).toBe('*')
      expect((await fetch(url, { method: 'OPTIONS' })).status).toBe(204)
      for (const method of ['POST', 'PUT', 'DELETE']) expect((await fetch(url, { method })).status).toBe(404)
    }
    publisher.close()
  })

  describe('ends', () => {
    test('with the connection of its publisher: requests that wait are answered, and another connection is another broadcast', async () => {
      const { login, key, publisher } = await publish()
      publisher.send(0.2)
      const player = await watch(login)
      publisher.send(4.4)
      // A request may be two segments ahead of what has arrived.
      await player.playlistWith(1)
      const blocked = player.ask('?_HLS_msn=3')
      await player.playlist('?_HLS_msn=2&_HLS_part=0')
      const hinted = player.get((await player.playlist()).hint ?? '')
      publisher.close()
      const last = parsePlaylist(await (await blocked).text())
      expect([last.hasEnded, last.hint, last.segments.map(({ seconds }) => seconds)]).toEqual([
        true,
        undefined,
        [2, 2, 0.6],
      ])
      expect((await hinted).status).toBe(200)
      expect((await player.playlist('?_HLS_msn=99')).hasEnded).toBe(true)
      expect((await player.bytes('2.m4s')).length).toBeGreaterThan(0)
      await until(
        () => fetch(`${current().url}/live/${login}.m3u8`),
        ({ status }) => status === 404,
      )
      const again = await TestPublisher.start({ rtmpPort: current().strand.rtmpPort, key })
      // The window begins with the last group of pictures before the first request.
      again.send(1)
      const next = await watch(login)
      again.send(2)
      expect(next.mediaUrl.href).not.toBe(player.mediaUrl.href)
      expect((await next.playlist()).hasEnded).toBe(false)
      expect((await player.playlist()).hasEnded).toBe(true)
      again.close()
    })

    test('before it has a segment: what there was is one', async () => {
      const { login, publisher } = await publish()
      publisher.send(1)
      const player = await watch(login)
      const starting = player.ask()
      publisher.close()
      const response = await starting
      expect(response.status).toBe(200)
      expect(parsePlaylist(await response.text())).toMatchObject({ hasEnded: true })
    })
  })

  // Once is enough: it takes six seconds.
  test.if(engine === 'sqlite')(
    'that sends nothing more is 404 with Retry-After before its first segment',
    async () => {
      const { login, publisher } = await publish()
      publisher.send(1)
      const player = await watch(login)
      const response = await player.ask()
      expect([
        response.status,
        response.headers.get('strand-error'),
        response.headers.get('retry-after'),
      ]).toEqual([404, 'not_live', '1'])
      publisher.close()
    },
    20_000,
  )

  test('that changes its size or its timestamps has a discontinuity, and a new init segment only if it must', async () => {
    const { login, publisher } = await publish({ hasSound: false })
    publisher.send(1.2)
    const player = await watch(login)
    publisher.send(2.8)
    publisher.offset = 100_000
    publisher.send(2)
    publisher.offset = -6000
    publisher.send(2)
    publisher.client.video(0, avcHeader(CONFIGS.avcHigh))
    publisher.send(4)
    const playlist = await player.playlistWith(4)
    expect(
      playlist.segments
        .filter(({ uri }) => uri !== undefined)
        .map(({ isDiscontinuous, init, seconds }) => [isDiscontinuous, init, seconds]),
    ).toEqual([
      [false, 'init-0.mp4', 2],
      [false, 'init-0.mp4', 2],
      [true, 'init-0.mp4', 2],
      [true, 'init-0.mp4', 2],
      [true, 'init-1.mp4', 2],
    ])
    const [one, other] = [
      await readMp4(await player.bytes('init-0.mp4'), await player.bytes('2.m4s')),
      await readMp4(await player.bytes('init-1.mp4'), await player.bytes('4.m4s')),
    ]
    expect([one[0]?.width, other[0]?.width]).toEqual([64, 1280])
    expect(Math.round((one[0]?.samples[0]?.seconds ?? 0) * 1000)).toBe(104_000)
    publisher.close()
  })

  test('counts one viewer per address and program that reads its playlist, and none twice that sends heartbeats', async () => {
    const { id, login, publisher } = await publish()
    publisher.send(0.2)
    const player = await watch(login)
    publisher.send(4)
    const { heartbeats } = current().strand.services
    const count = async () => {
      await heartbeats.report()
      const response = await fetch(`${current().url}/helix/streams?user_id=${id}`)
      return ((await response.json()) as { data: { viewer_count: number }[] }).data[0]?.viewer_count
    }
    const read = async (program: string) =>
      (await player.ask('', { headers: { 'User-Agent': program } })).status
    await until(count, value => value === 0)
    for (let request = 0; request < 5; request++) expect(await read('a television')).toBe(200)
    expect(await count()).toBe(1)
    expect(await read('VLC')).toBe(200)
    expect(await count()).toBe(2)
    const post = async (path: string, body: object) => {
      const headers = { 'User-Agent': 'VLC', 'Content-Type': 'application/json' }
      return fetch(`${current().url}/playback/${path}`, {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
      })
    }
    const { data } = (await (await post('session', { login })).json()) as { data: { session: string }[] }
    expect((await post('heartbeat', { session: data[0]?.session })).status).toBe(204)
    expect(await count()).toBe(2)
    // One address is no crowd, whatever it calls itself.
    for (let reader = 0; reader < 60; reader++) await read(`reader ${reader}`)
    expect(await count()).toBeLessThanOrEqual(20)
    publisher.close()
  })

  test('of audio alone, and of video alone, plays', async () => {
    const alone = await publish({ hasSound: false })
    alone.publisher.send(1.2)
    const player = await watch(alone.login)
    alone.publisher.send(4)
    const { segments } = await player.playlistWith(1)
    expect(
      (await readMp4(await player.bytes('init-0.mp4'), await player.bytes(segments[0]?.uri ?? ''))).map(
        ({ kind }) => kind,
      ),
    ).toEqual(['video'])
    alone.publisher.close()
    const { login, key } = await newChannel()
    const { client } = await TestPublisher.start({ rtmpPort: current().strand.rtmpPort, key })
    const { AAC } = await import('../support/media/codecs.ts')
    for (let frame = 0; frame < 400; frame++) {
      client.audio(Math.round((frame * 1024) / 44.1), AAC.frame())
      if (frame === 60) await watch(login)
    }
    const listener = await watch(login)
    await listener.playlistWith(1)
    expect(await (await fetch(`${current().url}/live/${login}.m3u8`)).text()).toContain(
      'CODECS="mp4a.40.2"\n',
    )
    expect(
      (await readMp4(await listener.bytes('init-0.mp4'), await listener.bytes('0.m4s'))).map(
        ({ kind }) => kind,
      ),
    ).toEqual(['audio'])
    client.close()
  })

  test('whose key frames are 8 s apart has segments of 4 s', async () => {
    const { login, publisher } = await publish({ group: 200 })
    publisher.send(0.2)
    const player = await watch(login)
    publisher.send(17)
    const { targetSeconds, segments } = await player.playlistWith(3)
    expect([
      targetSeconds,
      segments.slice(0, 4).map(({ seconds, parts }) => [seconds, parts[0]?.isIndependent]),
    ]).toEqual([
      4,
      [
        [4, undefined],
        [4, false],
        [4, true],
        [4, false],
      ],
    ])
    publisher.close()
  })

  test('may send its configuration any number of times, also others in between', async () => {
    const { login, publisher } = await publish()
    publisher.send(10)
    for (let count = 0; count < 2000; count++)
      publisher.client.video(0, count % 2 === 0 ? AVC.header : avcHeader(CONFIGS.avcHigh))
    publisher.client.video(0, AVC.header)
    publisher.send(10)
    const player = await watch(login)
    publisher.send(4)
    const { segments, discontinuitySequence } = await player.playlistWith(0)
    expect([discontinuitySequence, segments.some(each => each.isDiscontinuous)]).toEqual([0, false])
    publisher.close()
  })
})
