/** What search engines and other sites see: summaries with whole URLs, icons, the manifest, and what stays out. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { plainText } from '../../src/site/format/plain-text.ts'
import { goLive, goOffline, newChannel } from '../operations/helix/channels.ts'
import { newVideo } from '../operations/helix/videos.ts'
import { Person } from '../support/browser/person.ts'
import { startTestServer, type TestServer } from '../support/server.ts'

const PUBLIC_URL = 'https://live.example'
const HTML = { Accept: 'text/html' }
const STARTED = Date.parse('2026-03-01T12:00:00Z')

/** Everything that may end a tag, an attribute or a line, or reorder the text around it; and what is no single character. */
const HOSTILE = `"><script>alert('1')</script>&quot; \u202eevil\u2066 \n line \u2028 two\t\u0007 👩‍👩‍👧 日本語 عربي`
const HARMLESS = `"><script>alert('1')</script>&quot; evil line two 👩‍👩‍👧 日本語 عربي`

interface Head {
  readonly status: number
  readonly metas: Readonly<Record<string, string>>
  readonly links: Readonly<Record<string, string>>
  readonly title: string
}

/** The head as a browser reads it: the names of attributes, and their values without entities. */
async function readHead(url: string, headers: Record<string, string> = HTML): Promise<Head> {
  const response = await fetch(url, { headers, redirect: 'manual' })
  const [, head = ''] = /<head>(.*?)<\/head>/s.exec(await response.text()) ?? []
  const metas: Record<string, string> = {}
  const links: Record<string, string> = {}
  for (const [, tag, text = ''] of head.matchAll(/<(meta|link)((?: [\w-]+="[^"]*")*) ?\/?>/g)) {
    const attributes = Object.fromEntries(
      [...text.matchAll(/([\w-]+)="([^"]*)"/g)].map(([, name = '', value = '']) => [name, decode(value)]),
    )
    if (tag === 'link') links[attributes.rel ?? ''] = attributes.href ?? ''
    else metas[attributes.name ?? attributes.property ?? ''] = attributes.content ?? ''
  }
  const [, title = ''] = /<title>(.*?)<\/title>/s.exec(head) ?? []
  return { status: response.status, metas, links, title: decode(title) }
}

const decode = (text: string) =>
  text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')

describe('the open web', () => {
  let server: TestServer
  beforeAll(async () => {
    server = await startTestServer('sqlite', { config: { publicUrl: PUBLIC_URL } })
  })
  afterAll(() => server.stop())

  /** A channel with a game and a title, which the API may refuse. */
  async function channelWith(title: string) {
    const { store } = server.strand.services
    const channel = await newChannel(server)
    const [game] = await server.control('POST', '/games', { name: 'Tidefall' })
    await store.commands.changeChannel({ user_id: channel.id, title, game_id: game.id, video_id: '0' })
    return channel
  }

  test('a live channel: title, game and its picture now, with URLs of the public address', async () => {
    const { id, login } = await channelWith('First light')
    await goLive(server, id)
    const { metas, links } = await readHead(`${server.url}/${login}`)
    expect(metas).toMatchObject({
      description: 'Live: Tidefall. First light',
      'og:type': 'profile',
      'og:title': `${login} is live`,
      'og:description': 'Live: Tidefall. First light',
      'og:url': `${PUBLIC_URL}/${login}`,
      'og:image': `${PUBLIC_URL}/images/channels/${id}-1280x720.png`,
      'og:image:width': '1280',
      'twitter:card': 'summary_large_image',
      'twitter:image': `${PUBLIC_URL}/images/channels/${id}-1280x720.png`,
    })
    expect(links.canonical).toBe(`${PUBLIC_URL}/${login}`)
    expect(metas.robots).toBeUndefined()
    // The picture is there, in that size.
    const picture = await fetch(`${server.url}/images/channels/${id}-1280x720.png`)
    expect(picture.status).toBe(200)
    // Neither the case of the path nor what a proxy sends changes the canonical URL.
    const other = await readHead(`${server.url}/${login.toUpperCase()}?utm_source=a`, {
      ...HTML,
      Host: 'node-3.internal:8080',
      'X-Forwarded-Host': 'evil.example',
      'X-Forwarded-Proto': 'http',
    })
    expect([other.links.canonical, other.metas['og:url']]).toEqual([
      `${PUBLIC_URL}/${login}`,
      `${PUBLIC_URL}/${login}`,
    ])
    await goOffline(server, id)
  })

  test('an offline channel: its last broadcast, or its avatar before the first', async () => {
    const { id, login } = await newChannel(server)
    const before = await readHead(`${server.url}/${login}`)
    expect(before.metas).toMatchObject({
      description: `${login} has not broadcast yet.`,
      'og:image': `${PUBLIC_URL}/images/users/${id}-300x300.png`,
      'twitter:card': 'summary',
    })
    const video = await newVideo(server, {
      user_id: id,
      title: 'Night dive',
      started: STARTED,
      seconds: 3723,
    })
    const after = await readHead(`${server.url}/${login}`)
    expect(after.metas).toMatchObject({
      description: 'Last broadcast on 2026-03-01, 1:02:03: Night dive',
      'og:title': login,
      'og:image': `${PUBLIC_URL}/images/videos/${video}-1280x720.png`,
      'twitter:card': 'summary_large_image',
    })
  })

  test('a video: title, picture and duration', async () => {
    const { id: user_id, login } = await newChannel(server)
    const id = await newVideo(server, { user_id, title: 'Night dive', started: STARTED, seconds: 3723 })
    const { metas, links } = await readHead(`${server.url}/videos/${id}?t=1m`)
    expect(metas).toMatchObject({
      'og:type': 'video.other',
      'og:title': 'Night dive',
      'og:image': `${PUBLIC_URL}/images/videos/${id}-1280x720.png`,
      'og:url': `${PUBLIC_URL}/videos/${id}`,
      'video:duration': '3723',
      'twitter:title': 'Night dive',
    })
    expect(metas.description).toBe(`${login}, 2026-03-01 · 1:02:03`)
    expect(links.canonical).toBe(`${PUBLIC_URL}/videos/${id}`)
  })

  test('hostile titles stay text, on one line, and reorder nothing', async () => {
    const { id, login } = await channelWith(HOSTILE)
    await goLive(server, id)
    const live = await readHead(`${server.url}/${login}`)
    expect(live.metas.description).toBe(`Live: Tidefall. ${HARMLESS}`)
    expect(live.metas['og:description']).toBe(`Live: Tidefall. ${HARMLESS}`)
    await goOffline(server, id)
    const { id: user_id } = await newChannel(server)
    const video = await newVideo(server, { user_id, title: HOSTILE, started: STARTED, seconds: 60 })
    const { metas, title } = await readHead(`${server.url}/videos/${video}`)
    expect([metas['og:title'], metas['twitter:title'], title]).toEqual([
      HARMLESS,
      HARMLESS,
      `${HARMLESS} · Strand`,
    ])
    const html = await (await fetch(`${server.url}/videos/${video}`)).text()
    expect(html).not.toContain('<script>')
  })

  test('long texts are cut between characters', () => {
    expect(plainText('a'.repeat(100), 100)).toBe('a'.repeat(100))
    expect(plainText('a'.repeat(101), 100)).toBe(`${'a'.repeat(99)}…`)
    const family = '👩‍👩‍👧'
    const cut = plainText(family.repeat(30), 100)
    expect(cut.endsWith(`${family}…`)).toBe(true)
    expect(cut.isWellFormed()).toBe(true)
  })

  test('home and the list of a game have one address each', async () => {
    const [game] = await server.control('POST', '/games', { name: 'Deep "Water"' })
    const { id } = await newChannel(server)
    const { store } = server.strand.services
    await store.commands.changeChannel({ user_id: id, game_id: game.id, video_id: '0' })
    await goLive(server, id)
    const canonical = async (path: string) => (await readHead(server.url + path)).links.canonical
    expect(await canonical('/')).toBe(`${PUBLIC_URL}/`)
    expect(await canonical('/?language=en')).toBe(`${PUBLIC_URL}/`)
    expect(await canonical('/games')).toBe(`${PUBLIC_URL}/games`)
    expect(await canonical(`/games/${game.id}?language=en`)).toBe(`${PUBLIC_URL}/games/${game.id}`)
    const ofGame = await readHead(`${server.url}/games/${game.id}`)
    expect(ofGame.metas['og:description']).toBe(
      'Live channels with Deep "Water", most viewers first, and their latest videos.',
    )
    expect(ofGame.metas['og:image']).toBe(`${PUBLIC_URL}/images/games/${game.id}-570x760.png`)
    expect((await fetch(`${server.url}/images/games/${game.id}-570x760.png`)).status).toBe(200)
    expect(await canonical('/docs')).toBe(`${PUBLIC_URL}/docs`)
    await goOffline(server, id)
  })

  test('noindex where it belongs, and nowhere else', async () => {
    const { login, id: user_id } = await newChannel(server)
    const video = await newVideo(server, { user_id, started: STARTED, seconds: 60 })
    const [unused] = await server.control('POST', '/games', { name: 'Of no channel' })
    const robots = async (path: string, headers: Record<string, string> = HTML) =>
      (await readHead(server.url + path, headers)).metas.robots
    for (const path of ['/', '/games', `/${login}`, `/videos/${video}`, '/docs'])
      expect([path, await robots(path)]).toEqual([path, undefined])
    const closed = [
      '/?q=otter',
      '/login',
      '/signup',
      '/activate',
      '/nobody_is_here',
      '/videos/1',
      '/no/page',
      '/games/no-such-game',
      `/games/${unused.id}`,
      '/console',
    ]
    for (const path of closed) expect([path, await robots(path)]).toEqual([path, 'noindex'])
    const { broadcaster } = server.world
    const person = new Person(server)
    await person.holdSession(broadcaster.id)
    const session = { ...HTML, Cookie: person.cookies }
    for (const path of ['/account', `/studio/${broadcaster.login}`, '/drops']) {
      const { status, metas } = await readHead(server.url + path, session)
      expect([path, status, metas.robots]).toEqual([path, 200, 'noindex'])
    }
  })

  test('robots.txt: the API and the pages of one person are closed, channels are open whatever their name', async () => {
    const answer = await fetch(`${server.url}/robots.txt`)
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8'])
    const closed = [...(await answer.text()).matchAll(/^Disallow: (.*)$/gm)].map(([, path = '']) => path)
    const isOpen = (path: string) =>
      !closed.some(rule => (rule.endsWith('$') ? path === rule.slice(0, -1) : path.startsWith(rule)))
    for (const path of [
      '/account',
      '/account/password',
      '/studio',
      '/studio?a',
      '/studio/otter',
      '/console',
      '/console/users',
      '/helix/streams',
      '/control/users',
      '/oauth2/token',
      '/drops/progress',
      '/playback/sessions',
    ])
      expect([path, isOpen(path)]).toEqual([path, false])
    for (const path of [
      '/',
      '/otter',
      '/studio_mike',
      '/accountant',
      '/consoles',
      '/helix_fan',
      '/drops',
      '/videos/1',
      '/docs',
      '/images/users/1-300x300.png',
      '/assets/home.js',
    ])
      expect([path, isOpen(path)]).toEqual([path, true])
  })

  test('the manifest, and icons of the sizes that it names', async () => {
    const { links } = await readHead(server.url)
    const answer = await fetch(server.url + links.manifest)
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/manifest+json'])
    const { icons, start_url, name } = (await answer.json()) as {
      name: string
      start_url: string
      icons: { src: string; sizes: string; type: string }[]
    }
    expect([name, start_url]).toEqual(['Strand', '/'])
    expect(icons.map(({ sizes }) => sizes)).toEqual(['any', '192x192', '512x512', '512x512'])
    for (const { src, sizes, type } of icons) {
      const icon = await fetch(server.url + src)
      expect([src, icon.status, icon.headers.get('content-type')]).toEqual([src, 200, type])
      if (type === 'image/png') expect([src, await pngSize(icon)]).toEqual([src, sizes])
      else expect(await icon.text()).toStartWith('<svg ')
    }
    expect(await pngSize(await fetch(server.url + links['apple-touch-icon']))).toBe('180x180')
    const ico = Buffer.from(await (await fetch(`${server.url}/favicon.ico`)).arrayBuffer())
    expect([ico.readUInt16LE(2), ico.readUInt16LE(4), ico[6], ico[7]]).toEqual([1, 1, 32, 32])
    expect(ico.readUInt32LE(14)).toBe(ico.length - ico.readUInt32LE(18))
    expect(ico.subarray(23, 26).toString('latin1')).toBe('PNG')
    const svg = await fetch(`${server.url}/favicon.svg`)
    expect(svg.headers.get('content-security-policy')).toBe("default-src 'none'")
    const again = await fetch(`${server.url}/favicon.svg`, {
      headers: { 'If-None-Match': svg.headers.get('etag') ?? '' },
    })
    expect(again.status).toBe(304)
    expect((await fetch(`${server.url}/favicon.svg`, { method: 'POST' })).status).toBe(404)
  })

  test("the operator's listener closes everything, and has the icons of its pages", async () => {
    const two = await startTestServer('sqlite', {
      demo: false,
      config: { operatorListen: { host: '127.0.0.1', port: 0 } },
    })
    const operatorUrl = two.strand.controlUrl.replace(/\/control$/, '')
    expect(await (await fetch(`${operatorUrl}/robots.txt`)).text()).toBe('User-agent: *\nDisallow: /\n')
    const { metas, links } = await readHead(`${operatorUrl}/docs`)
    expect([metas.robots, links.manifest, links.canonical]).toEqual(['noindex', undefined, undefined])
    for (const path of [links.icon, links['apple-touch-icon']])
      expect((await fetch(operatorUrl + path)).status).toBe(200)
    await two.stop()
  })
})

async function pngSize(response: Response): Promise<string> {
  const bytes = Buffer.from(await response.arrayBuffer())
  return `${bytes.readUInt32BE(16)}x${bytes.readUInt32BE(20)}`
}
