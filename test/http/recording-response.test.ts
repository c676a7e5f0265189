import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { attachment, readRange } from '../../src/http/responses/recording-response.ts'
import { TestPublisher } from '../support/media/hls.ts'
import { readMp4 } from '../support/media/read-mp4.ts'
import { runs } from '../support/properties.ts'
import { onEachStore } from '../support/server/each-store.ts'

describe('a range of bytes', () => {
  test('is what the header asks for, within the file', () => {
    expect(readRange('bytes=0-9', 100)).toEqual({ from: 0, to: 10 })
    expect(readRange('bytes=90-', 100)).toEqual({ from: 90, to: 100 })
    expect(readRange('bytes=90-500', 100)).toEqual({ from: 90, to: 100 })
    expect(readRange('bytes=-10', 100)).toEqual({ from: 90, to: 100 })
    expect(readRange('bytes=-500', 100)).toEqual({ from: 0, to: 100 })
  })

  test('beyond the file cannot be satisfied', () => {
    expect(readRange('bytes=100-', 100)).toBe('unsatisfiable')
    expect(readRange('bytes=-0', 100)).toBe('unsatisfiable')
  })

  test('of another form is ignored', () => {
    for (const header of [
      null,
      '',
      'bytes=-',
      'bytes=5-4',
      'bytes=0-1,3-4',
      'items=0-1',
      'bytes=a-b',
      'bytes=1e3-',
    ])
      expect(readRange(header, 100)).toBeUndefined()
  })
})

describe('the name of a download', () => {
  test('is the title without what a file name or a header cannot have', () => {
    expect(attachment('Otters: night "dive" / part 1', '7')).toBe(
      `attachment; filename="Otters night dive part 1.mp4"; filename*=UTF-8''Otters%20night%20dive%20part%201.mp4`,
    )
    expect(attachment('Höhle\r\nSet-Cookie: a', '7')).toBe(
      `attachment; filename="Hohle Set-Cookie a.mp4"; filename*=UTF-8''H%C3%B6hle%20Set-Cookie%20a.mp4`,
    )
    expect(attachment('../..', '7')).toBe(
      `attachment; filename="video 7.mp4"; filename*=UTF-8''video%207.mp4`,
    )
  })

  test('property: of any title is one line of ASCII', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), title => {
        expect(attachment(title, '7')).toMatch(
          /^attachment; filename="[^"\\/\p{C}]+\.mp4"; filename\*=UTF-8''[!-~]+\.mp4$/u,
        )
        expect(attachment(title, '7')).toMatch(/^[ -~]+$/)
      }),
      { numRuns: runs(100) },
    )
  })
})

const config = { record: true, rtmpListen: { host: '127.0.0.1', port: 0 }, reconnectGraceSeconds: 2 }

onEachStore('a recording over HTTP', { config }, current => {
  let channels = 0
  const publish = async () => {
    channels += 1
    const login = `recorded_${channels}`
    const [{ id }] = await current().control('POST', '/users', { login })
    await current().control('PATCH', `/channels/${id}`, { title: 'Otters: a dive' })
    const [{ stream_key: key }] = await current().control('POST', `/channels/${id}/stream-key/rotate`, {})
    const publisher = await TestPublisher.start({ rtmpPort: current().strand.rtmpPort, key })
    const [video] = await current().control('GET', `/videos?user_id=${id}`)
    const url = `${current().url}/videos/${video.id}`
    return { id: id as string, key: key as string, video_id: video.id as string, url, publisher }
  }
  const until = async (ask: () => Promise<Response>, status: number): Promise<Response> => {
    for (;;) {
      const response = await ask()
      if (response.status === status) return response
      await Bun.sleep(20)
    }
  }
  /** The ranges of a playlist, with the init segment of each first. */
  const ranges = (text: string) =>
    [...text.matchAll(/BYTERANGE[:=]"?([0-9]+)@([0-9]+)/g)].map(
      ([, size, at]) => [Number(size), Number(at)] as const,
    )
  const bytesOf = async (url: string, [size, at]: readonly [number, number]) => {
    const response = await fetch(url, { headers: { Range: `bytes=${at}-${at + size - 1}` } })
    expect([response.status, response.headers.get('content-length')]).toEqual([206, String(size)])
    return response.bytes()
  }

  test('plays while the broadcast runs: a playlist that grows, whose ranges of the file are there', async () => {
    const { url, publisher } = await publish()
    publisher.send(23)
    const playlist = await until(() => fetch(`${url}.m3u8`), 200)
    expect(playlist.headers.get('cache-control')).toBe('max-age=1')
    expect(playlist.headers.get('content-type')).toBe('application/vnd.apple.mpegurl')
    expect(playlist.headers.get('access-control-allow-origin')).toBe('*')
    expect(playlist.headers.get('content-encoding')).toBe('gzip')
    const text = await playlist.text()
    expect(text).toContain('#EXT-X-PLAYLIST-TYPE:EVENT')
    const plain = await fetch(`${url}.m3u8`, { headers: { 'Accept-Encoding': 'identity' } })
    expect([plain.headers.get('content-encoding'), plain.headers.get('vary')]).toEqual([
      null,
      'Accept-Encoding',
    ])
    const [init, ...entries] = ranges(text).filter(
      (each, index, all) => index === 0 || each[1] !== all[0]?.[1],
    )
    const [video] = await readMp4(
      await bytesOf(`${url}.mp4`, init ?? [0, 0]),
      await bytesOf(`${url}.mp4`, entries[0] ?? [0, 0]),
    )
    expect(video?.samples.length).toBe(250)
    for (const headers of [
      {},
      { Range: 'bytes=0-' },
      { Range: 'bytes=-500' },
      { Range: 'bytes=99999999-99999999' },
    ]) {
      const file = await fetch(`${url}.mp4`, { headers: { ...headers } })
      expect([file.status, file.headers.get('content-type')]).toEqual([404, 'application/json'])
      expect(((await file.json()) as { message: string }).message).toContain('.m3u8 plays')
    }
    publisher.close()
  })

  test('is a file when the stream has ended: 200 whole, 206 in part, 416 beyond its end; HEAD has the size', async () => {
    const { url, video_id, publisher } = await publish()
    publisher.send(5)
    publisher.close()
    const whole = await until(() => fetch(`${url}.mp4`), 200)
    expect(whole.headers.get('content-type')).toBe('video/mp4')
    expect(whole.headers.get('access-control-allow-origin')).toBe('*')
    expect(whole.headers.get('content-disposition')).toBeNull()
    const content = await whole.bytes()
    const [video, audio] = await readMp4(content)
    expect(video?.samples.length).toBe(125)
    expect(audio?.samples.length).toBeGreaterThan(200)
    const part = await fetch(`${url}.mp4`, { headers: { Range: 'bytes=4-7' } })
    expect([part.status, part.headers.get('content-range')]).toEqual([206, `bytes 4-7/${content.length}`])
    expect(await part.text()).toBe('ftyp')
    const beyond = await fetch(`${url}.mp4`, { headers: { Range: `bytes=${content.length}-` } })
    expect([beyond.status, beyond.headers.get('content-range')]).toEqual([416, `bytes */${content.length}`])
    const head = await fetch(`${url}.mp4`, { method: 'HEAD' })
    expect([head.status, head.headers.get('content-length')]).toEqual([200, String(content.length)])
    const download = await fetch(`${url}.mp4?download`)
    expect(download.headers.get('content-disposition')).toStartWith(
      'attachment; filename="Otters a dive.mp4"',
    )
    const playlist = await fetch(`${url}.m3u8`)
    expect([playlist.status, playlist.headers.get('cache-control')]).toEqual([200, 'max-age=60'])
    const text = await playlist.text()
    expect(text).toContain('#EXT-X-PLAYLIST-TYPE:VOD')
    expect(text).toEndWith('#EXT-X-ENDLIST\n')
    const listed = await fetch(`${url}.m3u8`, { method: 'HEAD', headers: { 'Accept-Encoding': 'identity' } })
    expect([listed.status, listed.headers.get('content-length')]).toEqual([200, String(text.length)])
    const preflight = await fetch(`${url}.m3u8`, { method: 'OPTIONS' })
    expect([preflight.status, preflight.headers.get('access-control-allow-headers')]).toEqual([204, 'Range'])
    await current().control('DELETE', `/videos/${video_id}`)
    for (const type of ['mp4', 'm3u8']) expect((await fetch(`${url}.${type}`)).status).toBe(404)
  })

  test('is continued by a publisher who returns within the grace', async () => {
    const { url, key, publisher } = await publish()
    publisher.send(4)
    await Bun.sleep(0)
    publisher.close()
    const { rtmpPort } = current().strand
    const second = await TestPublisher.start({ rtmpPort, key })
    second.send(3)
    second.close()
    const whole = await until(() => fetch(`${url}.mp4`), 200)
    const [video] = await readMp4(await whole.bytes())
    expect(video?.samples.length).toBe(175)
    const text = await fetch(`${url}.m3u8`).then(response => response.text())
    expect(text.match(/#EXT-X-DISCONTINUITY\n/g)?.length).toBe(1)
  })

  test('404 of a video that does not exist or was not recorded, and at the old path', async () => {
    const { url, control, world } = current()
    const [video] = await control('GET', `/videos?user_id=${world.broadcaster.id}`)
    for (const name of ['999.mp4', '999.m3u8', `${video.id}.mp4`, `${video.id}.m3u8`, `${video.id}.flv`]) {
      const response = await fetch(`${url}/videos/${name}`)
      expect([name, response.status]).toEqual([name, 404])
    }
  })
})
