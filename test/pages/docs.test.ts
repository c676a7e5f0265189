/** The reference as a page: complete, in a real browser, and without asking anybody else. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import axe from 'axe-core'
import { type Browser, chromium, type Page } from 'playwright-core'
import { operations } from '../../src/contract/index.ts'
import { familyOf, problemsOf, queryParametersOf } from '../../src/contract/operation.ts'
import { startTestServer, type TestServer } from '../support/server.ts'

const executablePath = process.env.TEST_CHROMIUM || undefined
const pictures = process.env.STRAND_PICTURES || undefined

const ONE_OF_EACH = ['GetStreams', 'CreateToken', 'PutGame', 'PatchClient', 'DeleteGame', 'PlanFault']

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
    expect(shownIn(page)).toEqual(idsOf('helix', 'oauth', 'control').sort())
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

  test("without the operator's side for whoever comes through a proxy", async () => {
    const { page } = await get(server.url, { 'X-Forwarded-For': '203.0.113.9' })
    expect(shownIn(page)).toEqual(idsOf('helix', 'oauth').sort())
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
    expect(shownIn((await get(two.url)).page)).toEqual(lasting('helix', 'oauth'))
    const { page } = await get(operatorUrl)
    expect(shownIn(page)).toEqual(lasting('control'))
    expect(page).toContain(`<code>${operatorUrl}</code>`)
    await two.stop()
  })

  test('the lines for a shell work when pasted', async () => {
    const { page } = await get(server.url)
    const lineOf = (id: string) => {
      const [, article = ''] = page.split(`<article id="${id}"`)
      const [, line = ''] = /<figcaption>Request<\/figcaption><pre><code>(.*?)<\/code>/s.exec(article) ?? []
      return line.replaceAll('&#39;', "'").replaceAll('&quot;', '"').replaceAll('&amp;', '&')
    }
    const run = async (id: string) => {
      const child = Bun.spawn(['sh', '-c', `${lineOf(id)} -s -o /dev/null -w '%{http_code}'`], {
        env: {
          ...process.env,
          OPERATOR_TOKEN: server.world.operator_token,
          TOKEN: server.world.broadcaster.token,
        },
      })
      return new Response(child.stdout).text()
    }
    expect(await run('GetStreams')).toBe('200')
    expect(await run('ValidateToken')).toBe('200')
    expect(await run('PutUser')).toBe('200')
    expect(await run('GetUser')).toBe('200')
    expect(await run('DeleteUser')).toBe('204')
  })

  describe.skipIf(executablePath === undefined)('in a real browser', () => {
    let browser: Browser
    let page: Page
    const violations: string[] = []
    beforeAll(async () => {
      browser = await chromium.launch({ ...(executablePath && { executablePath }), args: ['--no-sandbox'] })
      page = await browser.newPage({ viewport: { width: 1440, height: 900 } })
      page.on('console', message => violations.push(message.text()))
      page.on('pageerror', error => violations.push(String(error)))
      page.on('request', request => {
        if (!request.url().startsWith(server.url) && !request.url().startsWith('data:'))
          violations.push(`asked ${request.url()}`)
      })
    })
    afterAll(() => browser.close())

    test('axe finds nothing on a phone and on a desk, light and dark', async () => {
      await page.goto(`${server.url}/docs`)
      for (const [name, width, height] of [
        ['phone', 390, 844],
        ['desk', 1440, 900],
      ] as const) {
        await page.setViewportSize({ width, height })
        const overflow = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
        expect([name, Math.max(0, overflow)]).toEqual([name, 0])
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
          if (pictures) await page.screenshot({ path: `${pictures}/docs-${name}-${colorScheme}.png` })
        }
      }
      // Operations are alike: one of each method stays, else axe would look at them for minutes.
      await page.evaluate(
        `for (const article of document.querySelectorAll('article:not(${ONE_OF_EACH.map(id => `#${id}`).join()})')) {
          document.querySelector('nav li:has(a[href="#' + article.id + '"])').remove()
          article.remove()
        }`,
      )
      await page.evaluate(axe.source)
      for (const width of [390, 1440]) {
        await page.setViewportSize({ width, height: 900 })
        await page.evaluate(`document.querySelector('.menu').open = true`)
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
          const { violations } = await page.evaluate<axe.AxeResults>('axe.run(document)')
          const result = violations.map(each => [each.id, each.nodes[0]?.html])
          expect([width, colorScheme, ...result]).toEqual([width, colorScheme])
        }
      }
    }, 180_000)

    test('a link leads to its operation; the keyboard filters, and clears again', async () => {
      await page.goto('about:blank')
      await page.goto(`${server.url}/docs#GetStreamKey`)
      const top = await page.locator('#GetStreamKey').boundingBox()
      expect(Math.abs(top?.y ?? 9999)).toBeLessThan(200)
      if (pictures) await page.screenshot({ path: `${pictures}/docs-link.png` })
      await page.goto(`${server.url}/docs#PlanFault`)
      const link = page.locator('nav a[aria-current]', { hasText: 'PlanFault' })
      await link.waitFor()
      expect((await link.boundingBox())?.y).toBeWithin(0, 900)
      await page.keyboard.press('/')
      await page.keyboard.type('drops')
      await page.locator('#found', { hasText: 'operations' }).waitFor()
      const visible = await page.locator('article:visible').evaluateAll(all => all.map(each => each.id))
      expect(visible).toContain('GetDropsEntitlements')
      expect(visible).not.toContain('GetStreamKey')
      if (pictures) await page.screenshot({ path: `${pictures}/docs-filter.png` })
      await page.keyboard.press('Escape')
      expect(await page.locator('article:visible').count()).toBe(operations.length)
    })

    test('without a script it is all there', async () => {
      const context = await browser.newContext({ javaScriptEnabled: false })
      const plain = await context.newPage()
      await plain.goto(`${server.url}/docs`)
      expect(await plain.locator('article').count()).toBe(operations.length)
      expect(await plain.locator('#filter').isVisible()).toBe(false)
      await context.close()
    })

    test('nothing complained, and nobody else was asked', () => {
      expect(violations).toEqual([])
    })
  })
})
