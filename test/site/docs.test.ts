/** The reference as a page: complete, and without requests to other hosts. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { EVENT_TYPES } from '../../src/contract/events/event-types.ts'
import { operations } from '../../src/contract/index.ts'
import { familyOf, listProblems, methodName, queryParameters } from '../../src/contract/operation.ts'
import { findAsset, islandScripts } from '../../src/site/build/assets.ts'
import { Person } from '../support/browser/person.ts'
import { startTestServer, type TestServer } from '../support/server.ts'

const idsOf = (...families: string[]) =>
  operations.filter(each => families.includes(familyOf(each))).map(({ id }) => id)
const shownIn = (page: string) => [...page.matchAll(/<article id="(\w+)"/g)].map(([, id]) => id ?? '').sort()

describe('/docs', () => {
  let server: TestServer
  beforeAll(async () => {
    server = await startTestServer('sqlite', { config: { listen: { host: 'localhost', port: 0 } } })
  })
  afterAll(() => server.stop())

  const get = async (url: string, headers: Record<string, string> = {}) => {
    const answer = await fetch(`${url}/docs`, { headers })
    expect(answer.status).toBe(200)
    return { page: await answer.text(), headers: answer.headers }
  }

  test('200 with every operation, parameter and problem, and where it is answered', async () => {
    const { page, headers } = await get(server.url)
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(headers.get('content-security-policy')).toStartWith("default-src 'none'; ")
    expect(headers.get('content-security-policy')).toContain("connect-src 'self';")
    expect(headers.get('content-security-policy')).not.toContain('unsafe')
    expect(shownIn(page)).toEqual(idsOf('helix', 'drops', 'oauth', 'playback', 'control').sort())
    expect(page).toContain(`<code>${server.url}</code>`)
    for (const operation of operations) {
      const [, article = ''] = page.split(`<article id="${operation.id}"`)
      const [own = ''] = article.split('</article>')
      const names = [
        ...Object.keys(operation.params?.properties ?? {}),
        ...Object.keys(queryParameters(operation).properties),
        ...Object.keys(operation.body?.properties ?? {}),
        ...listProblems(operation),
      ]
      expect(names.filter(name => !own.includes(`<code>${name}</code>`))).toEqual([])
    }
    // Links lead to this page or to this server.
    const leading = page.replaceAll(`href="${server.url}/`, 'href="/')
    expect([...leading.matchAll(/(?:src|href|action)="(?!#|data:|\/(?!\/))[^"]*/g)].flat()).toEqual([])
    expect(page.includes('undefined')).toBe(false)
    const ids = [...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id)
    expect(ids.length).toBe(new Set(ids).size)
  })

  test('200 with every type of event, where the public API is', async () => {
    const { page } = await get(server.url)
    for (const { type, condition, event } of EVENT_TYPES) {
      const [, article = ''] = page.split(`<article id="${type}"`)
      const [own = ''] = article.split('</article>')
      const names = [...Object.keys(condition.properties), ...Object.keys(event.properties)]
      expect([type, ...names.filter(name => !own.includes(`<code>${name}</code>`))]).toEqual([type])
      expect(page).toContain(`<li><a href="#${type}">`)
    }
  })

  test('200 with an example of every operation in every language, and a link to each', async () => {
    const { page } = await get(server.url)
    for (const operation of operations) {
      const [, article = ''] = page.split(`<article id="${operation.id}"`)
      const [own = ''] = article.split('</article>')
      expect(own).toContain(`<a href="#${operation.id}">`)
      const examples = [...own.matchAll(/<pre class="(\w+)" tabindex="0"><code>(.*?)<\/code>/gs)]
      expect(examples.map(([, language]) => language)).toEqual(['curl', 'typescript', 'python'])
      const [curl = '', typescript = '', python = ''] = examples.map(([, , text = '']) => text)
      const target = operation.path.replace(/\{.*/, '')
      expect(curl).toContain(`${server.url}${target}`)
      expect(python).toContain(`${server.url}${target}`)
      const call = `await ${familyOf(operation)}.${methodName(operation)}(`
      expect(typescript).toContain(operation.answerLines === undefined ? call : 'await fetch(')
      expect([curl, typescript, python].filter(text => /undefined|\[object/.test(text))).toEqual([])
    }
  })

  test('200 in the language that the reader chose before, and in curl if that is no language', async () => {
    const checkedWith = async (cookie: string) => {
      const { page } = await get(server.url, { Cookie: cookie })
      return [...page.matchAll(/<input[^>]*name="language"[^>]*>/g)]
        .filter(([input]) => / checked\b/.test(input))
        .map(([input]) => /value="(\w+)"/.exec(input)?.[1])
    }
    expect(await checkedWith('')).toEqual(['curl'])
    expect(await checkedWith('strand-docs-language=python')).toEqual(['python'])
    expect(await checkedWith('a=b; strand-docs-language=typescript; c=d')).toEqual(['typescript'])
    expect(await checkedWith('strand-docs-language=cobol')).toEqual(['curl'])
    expect(await checkedWith('strand-docs-language="><script>')).toEqual(['curl'])
  })

  test('200 with a menu in groups: those of the control API fold', async () => {
    const { page } = await get(server.url)
    const [, menu = ''] = /<nav class="rail"(.*?)<\/nav>/s.exec(page) ?? []
    const groups = [...menu.matchAll(/<details class="group"( open)?><summary>(?:<svg.*?<\/svg>)?([^<]*)/g)]
    const open = groups.filter(([, isOpen]) => isOpen !== undefined).map(([, , title]) => title)
    expect(open).toEqual(['Guide', 'Public API', 'Events', 'Drops', 'OAuth', 'Playback', 'Control API'])
    const folded = groups.filter(([, isOpen]) => isOpen === undefined).map(([, , title]) => title)
    expect(folded).toContain('Media servers')
    expect(folded).toContain('Users')
    for (const { id } of operations) expect(menu).toContain(`<a href="#${id}">`)
    for (const id of ['getting-started', 'errors', 'scopes', 'events', 'helix', 'control']) {
      expect(menu).toContain(`<a href="#${id}">`)
      expect(page).toContain(` id="${id}"`)
    }
  })

  test('200 compressed for those who can read that, and small', async () => {
    const { headers } = await get(server.url, { 'Accept-Encoding': 'identity' })
    expect([headers.get('content-encoding'), headers.get('vary')]).toEqual([null, 'Accept-Encoding'])
    const packed = await fetch(`${server.url}/docs`, {
      headers: { 'Accept-Encoding': 'gzip' },
      decompress: false,
    } as RequestInit)
    expect(packed.headers.get('content-encoding')).toBe('gzip')
    const bytes = new Uint8Array(await packed.arrayBuffer())
    expect(bytes.length).toBeLessThan(80_000)
    expect(new TextDecoder().decode(Bun.gunzipSync(bytes))).toContain('<article id="GetStreams"')
  })

  test('200 for each visitor with their session, theme and language, also from the cache', async () => {
    const [first, second] = server.world.users
    const sessions = [undefined, first, second]
    const visitors = await Promise.all(
      sessions.flatMap(user =>
        [undefined, 'light', 'dark'].flatMap(theme =>
          ['curl', 'python'].map(async language => {
            const person = new Person(server)
            if (user !== undefined) await person.holdSession(user.id)
            const chosen = theme === undefined ? '' : `; __Host-strand-theme=${theme}`
            const Cookie = `${person.cookies}; strand-docs-language=${language}${chosen}`
            return { user, theme, language, Cookie }
          }),
        ),
      ),
    )
    const grants = new Map<string, string>()
    // All visitors mixed, several times: pages are remembered, and forgotten again.
    for (const { user, theme, language, Cookie } of [...visitors, ...visitors.toReversed(), ...visitors]) {
      const { page } = await get(server.url, { Cookie, 'Accept-Encoding': 'gzip' })
      const plain = await get(server.url, { Cookie, 'Accept-Encoding': 'identity' })
      expect(page === plain.page).toBe(true)
      const reader = /"user":(null|\{[^}]*\}),"isStrict"/.exec(page.replaceAll('&quot;', '"'))?.[1] ?? ''
      expect([JSON.parse(reader)?.login, page.includes(', your account"')]).toEqual([
        user?.login,
        user !== undefined,
      ])
      expect(/<html[^>]*data-theme="(\w+)"/.exec(page)?.[1]).toBe(theme)
      expect(page).toMatch(new RegExp(`<input[^>]*value="${language}"[^>]* checked`))
      const [, grant = ''] = /<meta name="strand-grant" content="([^"]+)"/.exec(page) ?? []
      expect(grants.get(Cookie) ?? grant).toBe(grant)
      grants.set(Cookie, grant)
    }
    // One for visitors without a session, and one for each session.
    expect(new Set(grants.values()).size).toBe(1 + visitors.filter(({ user }) => user !== undefined).length)
  })

  test('the first script is small, and the forms come on demand', async () => {
    const { path, imports } = await islandScripts('docs')
    const files = await Promise.all([path, ...imports].map(findAsset))
    expect(files.reduce((sum, file) => sum + (file?.gzipped.length ?? 0), 0)).toBeLessThan(15_000)
    for (const file of files) expect(file?.text).not.toContain('GetStreamMarkers')
  })

  test("without the operator's side through a proxy", async () => {
    const { page } = await get(server.url, { 'X-Forwarded-For': '203.0.113.9' })
    expect(shownIn(page)).toEqual(idsOf('helix', 'drops', 'oauth', 'playback').sort())
  })

  test('each listener describes its side, and demo operations in a demo only', async () => {
    const two = await startTestServer('sqlite', {
      demo: false,
      config: { operatorListen: { host: '127.0.0.1', port: 0 } },
    })
    const operatorUrl = two.strand.controlUrl.replace(/\/control$/, '')
    const ofDemo = new Set(operations.filter(each => each.demoOnly).map(({ id }) => id))
    const lasting = (...families: string[]) =>
      idsOf(...families)
        .filter(id => !ofDemo.has(id))
        .sort()
    expect(shownIn((await get(two.url)).page)).toEqual(lasting('helix', 'drops', 'oauth', 'playback'))
    const { page } = await get(operatorUrl)
    expect(shownIn(page)).toEqual(lasting('control'))
    expect(page).not.toContain('<article id="stream.online"')
    expect(page).toContain(`<code>${operatorUrl}</code>`)
    // Every link and file of the page is on that listener too, apart from the console.
    const paths = [...page.matchAll(/(?:src|href)="(\/[^"]*)"/g)].map(([, path = '']) => path)
    expect(paths.some(path => path.startsWith('/assets/docs-'))).toBe(true)
    for (const path of new Set(paths.filter(each => each !== '/console')))
      expect([path, (await fetch(operatorUrl + path)).status]).toEqual([path, 200])
    await two.stop()
  })
})
