/** The page of a video (D-99): what everyone may see, and nothing that a request puts there. */
import { expect, test } from 'bun:test'
import { newChannel } from '../operations/helix/channels.ts'
import { newVideo } from '../operations/helix/videos.ts'
import { onEachStore } from '../support/server/each-store.ts'
import type { TestServer } from '../support/server.ts'

async function open({ url }: TestServer, path: string, options: RequestInit = {}) {
  const response = await fetch(url + path, { redirect: 'manual', ...options })
  const html = await response.text()
  const text = html
    .replace(/<style>.*?<\/style>/s, '')
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll(/\s+/g, ' ')
  return { status: response.status, headers: response.headers, html, text }
}

const STARTED = Date.parse('2026-03-01T12:00:00Z')

/** A video with everything that its page shows. */
async function fullVideo(server: TestServer, more: object = {}) {
  const { id: user_id, login } = await newChannel(server)
  const [game] = await server.control('POST', '/games', { name: 'Tidefall' })
  const id = await newVideo(server, {
    user_id,
    game_id: game.id,
    title: 'First light over the reef',
    started: STARTED,
    seconds: 7384,
    ...more,
  })
  return { id, login, user_id }
}

onEachStore('the page of a video', {}, server => {
  test('200 title, channel, start, duration, game and thumbnail', async () => {
    const { id, login, user_id } = await fullVideo(server())
    const { status, headers, html, text } = await open(server(), `/videos/${id}`)
    expect(status).toBe(200)
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(html).toContain('<title>First light over the reef · Strand</title>')
    expect(html).toContain('<h1>First light over the reef</h1>')
    for (const fact of [login, 'Duration 2:03:04', 'Game Tidefall']) expect(text).toContain(fact)
    expect(html).toMatch(/<time datetime="2026-03-01T12:00:00Z" title="2026-03-01 12:00 UTC">\d+ \w+ ago</)
    expect(html).toContain(`src="/images/videos/${id}-640x360.png"`)
    expect(html).toContain(`src="/images/users/${user_id}-300x300.svg"`)
    expect(text).not.toContain('This link points to')
  })

  test('200 without a script, a cookie or a cache, and with images of this server only', async () => {
    const { headers, html } = await open(server(), `/videos/${(await fullVideo(server())).id}`)
    expect(headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; style-src 'self'; font-src 'self'; img-src 'self' data:; manifest-src 'self'; frame-ancestors 'none'; base-uri 'none'$/,
    )
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('x-frame-options')).toBe('DENY')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.has('set-cookie')).toBe(false)
    expect(html).not.toContain('<script')
    expect(html).not.toContain('method="post"')
  })

  test('200 a running stream is live, with its duration so far; a video needs neither title nor game', async () => {
    const { id } = await fullVideo(server(), { started: Date.now() - 100_000, isLive: true })
    const { text } = await open(server(), `/videos/${id}`)
    expect(text).toMatch(/ Live /)
    expect(text).toMatch(/Duration so far 1:[45]\d/)
    const { id: user_id } = await newChannel(server())
    const plain = await newVideo(server(), { user_id, title: '' })
    const page = await open(server(), `/videos/${plain}`)
    expect(page.html).toContain('<h1>Untitled video</h1>')
    expect(page.text).toContain('Game No game')
  })

  test('200 the position of a link, in every form of it', async () => {
    const { id } = await fullVideo(server())
    for (const [t, shown] of [
      ['0h4m4s', '4:04'],
      ['4m4s', '4:04'],
      ['244s', '4:04'],
      ['244', '4:04'],
      ['1h2m3s', '1:02:03'],
      ['0h0m0s', '0:00'],
      ['99h0m0s', '99:00:00'],
    ]) {
      const { status, text } = await open(server(), `/videos/${id}?t=${t}`)
      expect([t, status]).toEqual([t, 200])
      expect([t, text]).toEqual([t, expect.stringContaining(`This link points to ${shown} `)])
    }
  })

  test('200 the URL of every listed marker leads to its video and position', async () => {
    const { world } = server()
    const answer = await server().call({
      path: '/helix/streams/markers',
      query: { user_id: world.broadcaster.id, first: 100 },
      token: world.broadcaster.token,
    })
    const [{ video_id, markers }] = answer.body.data[0].videos
    expect(markers.length).toBeGreaterThan(20)
    for (const { url, description, position_seconds: at } of markers) {
      const { pathname, search } = new URL(url)
      expect(pathname).toBe(`/videos/${video_id}`)
      const { status, text } = await open(server(), pathname + search)
      expect(status).toBe(200)
      const padded = (part: number) => String(part).padStart(2, '0')
      const [minutes, seconds] = [Math.floor(at / 60) % 60, padded(at % 60)]
      const clock =
        at < 3600 ? `${minutes}:${seconds}` : `${Math.floor(at / 3600)}:${padded(minutes)}:${seconds}`
      expect(text).toContain(`This link points to ${clock} `)
      // Markers are for the broadcaster and editors.
      if (description !== '') expect(text).not.toContain(description)
    }
  })

  test('200 a position that cannot be read is ignored, and never repeated', async () => {
    const { id } = await fullVideo(server())
    const plain = await open(server(), `/videos/${id}`)
    for (const t of [
      '',
      'x',
      '-1',
      '1d',
      '4:04',
      '1e3',
      '99999999999',
      '9999999h',
      '<b>bold</b>',
      '"\'><i',
      '٣',
    ]) {
      const page = await open(server(), `/videos/${id}?t=${encodeURIComponent(t)}`)
      expect([t, page.status, page.html]).toEqual([t, 200, plain.html])
    }
  })

  test('400 what is not text at all, as on every page', async () => {
    const { id } = await fullVideo(server())
    for (const search of ['t=%FF', 't=%00', 't=1&t=2', `t=${'9'.repeat(300)}`]) {
      const page = await open(server(), `/videos/${id}?${search}`)
      expect([search, page.status]).toEqual([search, 400])
      expect(page.html).toContain('<h1>Invalid request</h1>')
    }
  })

  test('200 whatever a title or name contains, it is text', async () => {
    const title = '<script>alert(1)</script>"><img src=x onerror=alert(1)>'
    const { id } = await fullVideo(server(), { title })
    const { html } = await open(server(), `/videos/${id}`)
    expect(html).not.toContain('<script')
    expect(html).not.toContain('<img src=x')
    expect(html).toContain('&lt;script>alert(1)')
  })

  test('404 a page states that there is no such video', async () => {
    const { id } = await fullVideo(server())
    await server().control('DELETE', `/videos/${id}`)
    for (const path of [
      id,
      '999',
      'abc',
      `0${id}`,
      `x${id}`,
      `${id}%00`,
      '%FF',
      '..%2f1',
      '1'.repeat(400),
      "'%20or%201=1",
    ]) {
      const page = await open(server(), `/videos/${path}?t=0h4m4s`)
      expect([path, page.status]).toEqual([path, 404])
      expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
      expect(page.html).toContain('<h1>Video not found</h1>')
    }
  })

  test('200 and 404 to HEAD, without a body', async () => {
    const { id } = await fullVideo(server())
    for (const [path, status] of [
      [`/videos/${id}?t=1m`, 200],
      ['/videos/999', 404],
    ] as const) {
      const page = await open(server(), path, { method: 'HEAD' })
      expect([path, page.status, page.html]).toEqual([path, status, ''])
    }
  })

  test('404 to anything but a look, and beside the page', async () => {
    const { id } = await fullVideo(server())
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'])
      expect((await open(server(), `/videos/${id}`, { method })).status).toBe(404)
    for (const path of ['/videos', '/videos/', `/videos/${id}/`, `/videos/${id}/x`])
      expect((await open(server(), path)).headers.get('content-type')).toBe('application/json')
  })
})
