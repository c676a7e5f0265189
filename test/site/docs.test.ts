/** The reference as a page: complete, and without asking anybody else. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { EVENT_TYPES } from '../../src/contract/events/event-types.ts'
import { operations } from '../../src/contract/index.ts'
import { familyOf, problemsOf, queryParametersOf } from '../../src/contract/operation.ts'
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
    expect(shownIn(page)).toEqual(idsOf('helix', 'oauth', 'playback', 'control').sort())
    expect(page).toContain(`<code>${server.url}</code>`)
    for (const operation of operations) {
      const [, article = ''] = page.split(`<article id="${operation.id}"`)
      const [own = ''] = article.split('</article>')
      const names = [
        ...Object.keys(operation.params?.properties ?? {}),
        ...Object.keys(queryParametersOf(operation).properties),
        ...Object.keys(operation.body?.properties ?? {}),
        ...problemsOf(operation),
      ]
      expect(names.filter(name => !own.includes(`<code>${name}</code>`))).toEqual([])
    }
    const [body = ''] = page.split('<script>')
    expect([...body.matchAll(/(?:src|href)="(?!#|data:|\/openapi\.json)[^"]*/g)].flat()).toEqual([])
    expect(body.includes('undefined')).toBe(false)
    const ids = [...body.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id)
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

  test("without the operator's side for whoever comes through a proxy", async () => {
    const { page } = await get(server.url, { 'X-Forwarded-For': '203.0.113.9' })
    expect(shownIn(page)).toEqual(idsOf('helix', 'oauth', 'playback').sort())
  })

  test('each listener tells of its own side, and of demo operations in a demo only', async () => {
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
    expect(shownIn((await get(two.url)).page)).toEqual(lasting('helix', 'oauth', 'playback'))
    const { page } = await get(operatorUrl)
    expect(shownIn(page)).toEqual(lasting('control'))
    expect(page).not.toContain('<article id="stream.online"')
    expect(page).toContain(`<code>${operatorUrl}</code>`)
    await two.stop()
  })
})
