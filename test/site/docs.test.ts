/** The reference as a page: complete, and without requests to other hosts. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { EVENT_TYPES } from '../../src/contract/events/event-types.ts'
import { operations } from '../../src/contract/index.ts'
import { familyOf, listProblems, queryParameters } from '../../src/contract/operation.ts'
import { findAsset, islandScripts } from '../../src/site/build/assets.ts'
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
    expect([...page.matchAll(/(?:src|href|action)="(?!#|data:|\/(?!\/))[^"]*/g)].flat()).toEqual([])
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
