/** The reference as a page: in a real browser, and its lines in a real shell. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import axe from 'axe-core'
import { type Browser, chromium, type Page } from 'playwright-core'
import { EVENT_TYPES } from '../../src/contract/events/event-types.ts'
import { operations } from '../../src/contract/index.ts'
import { startTestServer, type TestServer } from '../support/server.ts'

const executablePath = process.env.TEST_CHROMIUM || undefined
const pictures = process.env.STRAND_PICTURES || undefined

const ONE_OF_EACH = ['GetStreams', 'CreateToken', 'PutGame', 'PatchClient', 'DeleteGame', 'PlanFault']

describe('/docs', () => {
  let server: TestServer
  beforeAll(async () => {
    server = await startTestServer('sqlite', { config: { listen: { host: 'localhost', port: 0 } } })
  })
  afterAll(() => server.stop())

  test('the lines for a shell work when pasted', async () => {
    const page = await (await fetch(`${server.url}/docs`)).text()
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
      // Operations are alike, and so are events: one of each method and one event stay, else axe would look at them for minutes.
      await page.evaluate(
        `for (const article of document.querySelectorAll('article:not(${[...ONE_OF_EACH, 'stream.online'].map(id => `[id="${id}"]`).join()})')) {
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
      await page.locator('#found', { hasText: 'results' }).waitFor()
      const visible = await page.locator('article:visible').evaluateAll(all => all.map(each => each.id))
      expect(visible).toContain('GetDropsEntitlements')
      expect(visible).not.toContain('GetStreamKey')
      if (pictures) await page.screenshot({ path: `${pictures}/docs-filter.png` })
      await page.keyboard.press('Escape')
      expect(await page.locator('article:visible').count()).toBe(operations.length + EVENT_TYPES.length)
    })

    test('without a script it is all there', async () => {
      const context = await browser.newContext({ javaScriptEnabled: false })
      const plain = await context.newPage()
      await plain.goto(`${server.url}/docs`)
      expect(await plain.locator('article').count()).toBe(operations.length + EVENT_TYPES.length)
      expect(await plain.locator('#filter').isVisible()).toBe(false)
      await context.close()
    })

    test('nothing complained, and nobody else was asked', () => {
      expect(violations).toEqual([])
    })
  })
})
