/** The home page: who is live, page by page and by filter, without a script; and what it is for an empty installation. */
import { expect, test } from 'bun:test'
import { goLive, newChannel, newLiveChannel } from '../operations/helix/channels.ts'
import { Person } from '../support/browser/person.ts'
import { onEachStore } from '../support/server/each-store.ts'
import type { TestServer } from '../support/server.ts'

const HTML = { Accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' }
const PAGE = 24

async function open({ url }: TestServer, path: string, headers: Record<string, string> = HTML) {
  const response = await fetch(url + path, { headers, redirect: 'manual' })
  const html = await response.text()
  const main = /<main.*<\/main>/s.exec(html)?.[0] ?? ''
  return {
    status: response.status,
    headers: response.headers,
    html,
    text: main.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' '),
    channels: [...main.matchAll(/<h[23]><a href="\/([a-z0-9_]+)">/g)].map(([, login = '']) => login),
    next: /rel="next" href="([^"]+)"/.exec(main)?.[1]?.replaceAll('&amp;', '&'),
  }
}

onEachStore('the home page', { streams: 60, config: { logLevel: 'debug' } }, server => {
  const listed = async (query: Record<string, string> = {}) => {
    const { body } = await server().call({ path: '/helix/streams', query: { first: 100, ...query } })
    return body.data as { user_login: string; title: string; game_id: string; language: string }[]
  }

  test('200 a page for browsers, the JSON object for programs', async () => {
    const page = await open(server(), '/')
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    for (const headers of [{ Accept: 'application/json' }, { Accept: '*/*' }, { Accept: '' }]) {
      const { status, html } = await open(server(), '/', headers as Record<string, string>)
      expect([status, JSON.parse(html).helix, JSON.parse(html).docs]).toEqual([200, '/helix', '/docs'])
    }
    expect((await open(server(), '/', { Accept: 'application/json' })).headers.get('content-type')).toBe(
      'application/json',
    )
  })

  test('200 cards with picture, title, channel, game, viewers, uptime and tags', async () => {
    const { body } = await server().call({ path: '/helix/streams', query: { first: 2 } })
    const { html, text, headers } = await open(server(), '/')
    for (const stream of body.data) {
      for (const fact of [stream.title, stream.user_name, stream.game_name, ...stream.tags.slice(0, 3)])
        expect(text).toContain(fact)
      expect(html).toContain(`/images/channels/${stream.user_id}-`)
    }
    expect(text).toMatch(/[0-9.]+K? watching/)
    expect(text).toMatch(/[0-9]+h [0-9]+m|[0-9]+m/)
    expect(headers.get('content-security-policy')).toBe(
      "default-src 'none'; script-src 'self'; connect-src 'self'; media-src 'self' blob:; style-src 'self'; font-src 'self'; img-src 'self' data:; manifest-src 'self'; frame-ancestors 'none'; base-uri 'none'",
    )
    expect(html).not.toMatch(/ style="|<style|<script(?! type="module" src="\/assets\/)| on[a-z]+="/)
    expect(headers.has('set-cookie')).toBe(false)
  })

  test('200 links lead through all channels, each once, in the order of the API', async () => {
    const seen: string[] = []
    let path: string | undefined = '/'
    for (let pages = 0; path !== undefined && pages < 10; pages++) {
      const page: Awaited<ReturnType<typeof open>> = await open(server(), path)
      expect(page.status).toBe(200)
      seen.push(...page.channels)
      path = page.next
    }
    expect(seen).toEqual((await listed()).map(each => each.user_login))
    expect(seen.length).toBeGreaterThan(2 * PAGE)
  })

  test('200 filters by language; an unknown one is empty', async () => {
    const { language } = (await listed()).find(each => each.language !== 'en') ?? { language: '' }
    const expected = (await listed({ language })).slice(0, PAGE).map(each => each.user_login)
    expect((await open(server(), `/?language=${language}`)).channels).toEqual(expected)
    const none = await open(server(), '/?language=xx')
    expect([none.status, none.channels.length, none.text.includes('All live channels')]).toEqual([
      200,
      0,
      true,
    ])
  })

  test('200 games with pictures and viewers, which lead to their pages, as does every card', async () => {
    const { html } = await open(server(), '/')
    const { body } = await server().call({
      path: '/helix/games/top',
      query: { first: 8 },
      token: server().world.client.app_token,
    })
    const games = [...html.matchAll(/<li class="poster">.*?<\/li>/gs)].map(([poster]) => poster)
    expect(games.map(poster => /href="([^"]+)">([^<]+)</.exec(poster)?.slice(1))).toEqual(
      body.data.map(({ id, name }: { id: string; name: string }) => [`/games/${id}`, name]),
    )
    for (const poster of games)
      expect(poster).toMatch(/\/images\/games\/[0-9]+-285x380\.svg.*[0-9.]+K? watching/s)
    const [first] = await listed()
    expect(html).toContain(`href="/games/${first?.game_id}"`)
    expect(html).not.toContain('/?game=')
    expect(html).toContain('href="/games"')
  })

  test('200 search finds live channels, games and channels that are offline', async () => {
    const live = await newLiveChannel(server())
    await server().control('PATCH', `/channels/${live.id}`, { title: 'Reef at dawn' })
    const prefix = 'made_for_proof'
    const offline = await newChannel(server())
    const { status, text, html, channels } = await open(server(), `/?q=${prefix}`)
    expect(status).toBe(200)
    expect(channels).toContain(live.login)
    expect(text).toContain('Reef at dawn')
    expect(html).toContain(`href="/${offline.login}"`)
    const games = await open(server(), '/?q=tide')
    expect(games.text).toContain('Tidefall')
    const none = await open(server(), '/?q=%3Cscript%3Ealert(1)%3C/script%3E')
    expect([none.status, none.html.includes('<script>alert')]).toEqual([200, false])
    expect(none.text).toContain('No channel or game')
  })

  test('200 search finds a part of a name, and titles and tags of live channels, the best first', async () => {
    const made = async (login: string, changes: object = {}) => {
      const [user] = await server().control('POST', '/users', { login })
      await server().control('PATCH', `/channels/${user.id}`, changes)
      return user.id as string
    }
    const start = async (login: string, changes: object = {}) => goLive(server(), await made(login, changes))
    await start('dusty_wombat')
    await start('wombats_r_us')
    await start('titled', { title: 'All about WOMBATS' })
    await start('tagged', { tags: ['Wombat'] })
    await made('offline_wombat')
    await made('xwombatx')
    await server().control('POST', '/users', { login: 'other_login', display_name: 'Ein Wombat' })
    const { channels, html, text } = await open(server(), '/?q=Wombat')
    expect(channels.slice(0, 2)).toEqual(['wombats_r_us', 'dusty_wombat'])
    expect(channels.slice(2).sort()).toEqual(['tagged', 'titled'])
    const at = ['offline_wombat', 'other_login', 'xwombatx'].map(login => html.indexOf(`href="/${login}"`))
    expect(at.every(place => place > 0)).toBe(true)
    expect(at).toEqual(at.toSorted((a, b) => a - b))
    expect(text).toContain('Ein Wombat')
    // No character of a query is a wildcard.
    for (const query of ['w_mbat', 'w%t', 'wom!bat', "wombat' or 1=1"])
      expect((await open(server(), `/?q=${encodeURIComponent(query)}`)).text).toContain('No channel or game')
  })

  test('200 suggestions: the best few channels, live before offline, and games', async () => {
    const suggest = async (query: string) => {
      const response = await fetch(`${server().url}/search/suggestions?q=${encodeURIComponent(query)}`)
      expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json'])
      expect(response.headers.has('set-cookie')).toBe(false)
      return (await response.json()).suggestions as { href: string; about: string; viewers?: string }[]
    }
    const [prefixed] = await server().control('POST', '/users', { login: 'numbat_offline' })
    for (const login of ['a_numbat', 'numbat', 'the_numbat_one']) {
      const [user] = await server().control('POST', '/users', { login })
      await goLive(server(), user.id)
    }
    const found = await suggest('numbat')
    expect(found.map(({ href }) => href)).toEqual([
      '/numbat',
      `/${prefixed.login}`,
      '/a_numbat',
      '/the_numbat_one',
    ])
    expect(found.map(({ viewers }) => viewers !== undefined)).toEqual([true, false, true, true])
    expect((await suggest('tidef')).at(-1)?.about).toBe('Game')
    for (const query of ['', ' ', '%', '\u{10ffff}', 'no such channel'])
      expect(await suggest(query)).toEqual([])
    expect((await suggest('a')).length).toBeLessThanOrEqual(8)
    expect((await fetch(`${server().url}/search/suggestions?q=${'x'.repeat(201)}`)).status).toBe(400)
  })

  test('4xx a cursor of another list, odd values: a page about it, never a failure', async () => {
    const { next = '' } = await open(server(), '/')
    const cursor = next.split('after=')[1] ?? ''
    for (const query of [
      'after=x',
      `after=${cursor}&language=en`,
      `language=${'x'.repeat(150)}`,
      `q=${'x'.repeat(201)}`,
    ]) {
      const { status, html } = await open(server(), `/?${query}`)
      expect([query, [200, 400].includes(status), /<h1[ >]/.test(html)]).toEqual([query, true, true])
    }
    expect((await open(server(), '/?after=x')).status).toBe(400)
  })

  test('200 the header knows who is logged in', async () => {
    const visitor = await open(server(), '/')
    expect(visitor.html).toContain('href="/login?next=%2F"')
    expect(visitor.html).not.toContain('href="/studio"')
    for (const path of ['/', '/games', '/drops']) expect(visitor.html).toContain(`<a href="${path}"`)
    const person = new Person(server())
    await person.holdSession(server().world.broadcaster.id)
    person.headers = HTML
    const { html } = await person.open('/')
    for (const path of ['/studio', '/drops', '/account']) expect(html).toContain(`href="${path}"`)
    expect(html).not.toContain('href="/login')
  })

  test('200 a user sees the live channels that they follow first', async () => {
    const person = new Person(server())
    const [user] = await server().control('POST', '/users', { login: 'a_follower' })
    await person.holdSession(user.id)
    person.headers = HTML
    expect((await person.open('/')).html).not.toContain('followed-heading')
    const { id, login } = await newLiveChannel(server())
    await server().control('PUT', `/users/${user.id}/follows/${id}`, {})
    const { html } = await person.open('/')
    expect(html.indexOf(`href="/${login}"`)).toBeWithin(
      html.indexOf('followed-heading'),
      html.indexOf('>Live now<'),
    )
  })
})

onEachStore('the home page of an empty installation', { streams: 0 }, server => {
  test('200 a single live channel is shown large, and in no list', async () => {
    const [{ user_login }, ...others] = (await server().call({ path: '/helix/streams?first=100' })).body.data
    for (const { user_id } of others) await server().control('DELETE', `/channels/${user_id}/stream`)
    const { html, text } = await open(server(), '/')
    expect(/<section class="featured".*?<h2><a href="\/([a-z0-9_]+)"/s.exec(html)?.[1]).toBe(user_login)
    expect([html.includes('<li class="card'), text.includes('No other channel is live right now.')]).toEqual([
      false,
      true,
    ])
  })

  test('200 what to do next', async () => {
    for (const { user_id } of (await server().call({ path: '/helix/streams?first=100' })).body.data)
      await server().control('DELETE', `/channels/${user_id}/stream`)
    const { status, text, html } = await open(server(), '/')
    expect([status, text.includes('No channel is live yet')]).toEqual([200, true])
    for (const path of ['/studio', '/login?next=/studio', '/docs']) expect(html).toContain(`href="${path}"`)
    expect(html).not.toContain('<script')
  })
})

const limited = { rateLimits: { app: 0, user: 0, anonymous: 12 } }
onEachStore('the home page and the limit of an address', { config: limited }, server => {
  test('429 one visitor spends the points of that address only', async () => {
    const statuses = new Set<number>()
    for (let turn = 0; turn < 8; turn++) statuses.add((await open(server(), '/')).status)
    expect([...statuses]).toEqual([200, 429])
    const app = await server().call({ path: '/helix/streams', token: server().world.client.app_token })
    expect(app.status).toBe(200)
  })
})
