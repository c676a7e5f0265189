/** The search in the header in a real browser: suggestions with the keyboard, on a phone, and without a script. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser, Page } from 'playwright-core'
import { goLive } from '../operations/helix/channels.ts'
import { hasBrowser, launchBrowser } from '../support/browser/browser.ts'
import { look } from '../support/browser/look.ts'
import { openWatched } from '../support/browser/watched-page.ts'
import { startTestServer, type TestServer } from '../support/server.ts'

const PHONE = { width: 390, height: 844 }

describe.if(hasBrowser)('the search in a browser', () => {
  let server: TestServer
  let browser: Browser
  let page: Page
  let violations: readonly string[]

  beforeAll(async () => {
    server = await startTestServer('sqlite', { streams: 60 })
    for (const login of ['dusty_aardwolf', 'aardwolf_club', 'my_aardwolf']) {
      const [user] = await server.control('POST', '/users', { login })
      if (login !== 'my_aardwolf') await goLive(server, user.id)
    }
    browser = await launchBrowser()
    ;({ page, violations } = await openWatched(browser, server.url))
  }, 60_000)
  afterAll(async () => {
    await browser.close()
    await server.stop()
  })

  const options = () => page.locator('.search-option .search-name').allTextContents()
  const type = async (text: string) => {
    await page.goto(`${server.url}/`)
    await page.locator('.search input').click()
    await page.keyboard.type(text)
    await page.locator('.search-option').first().waitFor()
  }
  const attribute = (name: string) => page.locator('.search input').getAttribute(name)

  test('suggestions appear while a person types, and move nothing', async () => {
    await page.goto(`${server.url}/`)
    await page.evaluate(`window.shifts = 0; new PerformanceObserver(list => {
      for (const shift of list.getEntries()) window.shifts += shift.value
    }).observe({ type: 'layout-shift' })`)
    const asked: string[] = []
    page.on('request', request => request.url().includes('/search/') && asked.push(request.url()))
    const place = () => page.locator('main').boundingBox()
    const before = await place()
    expect(await attribute('aria-expanded')).toBe('false')
    await page.locator('.search input').click()
    await page.keyboard.type('aardwolf')
    await page.locator('.search-option').first().waitFor()
    expect(await options()).toEqual(['aardwolf_club', 'dusty_aardwolf', 'my_aardwolf'])
    expect(await attribute('aria-expanded')).toBe('true')
    expect(await place()).toEqual(before)
    expect(await page.evaluate<number>('window.shifts')).toBe(0)
    // Letters that follow one another quickly are one request, not one each.
    expect(asked.length).toBeLessThan('aardwolf'.length)
    await look(page, 'search suggestions')
  })

  test('arrow keys choose, Enter opens, Escape closes and keeps the text', async () => {
    await type('aardwolf')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowDown')
    const active = await attribute('aria-activedescendant')
    expect(await page.locator('.search-option[aria-selected="true"]').getAttribute('id')).toBe(active)
    await page.keyboard.press('Enter')
    await page.waitForURL(`${server.url}/dusty_aardwolf`)
    await type('aardwolf')
    await page.keyboard.press('ArrowUp')
    expect(await page.locator('.search-option[aria-selected="true"] .search-name').textContent()).toBe(
      'my_aardwolf',
    )
    await page.keyboard.press('Escape')
    expect(await page.locator('.search-list').isVisible()).toBe(false)
    expect(await page.locator('.search input').inputValue()).toBe('aardwolf')
    await page.keyboard.press('Enter')
    await page.waitForURL(`${server.url}/?q=aardwolf`)
    expect(await page.locator('.search input').inputValue()).toBe('aardwolf')
    await page.waitForSelector('h3 a[href="/dusty_aardwolf"]')
  })

  test('a click opens a suggestion, and the list closes when the focus leaves', async () => {
    await type('aardwolf')
    await page.keyboard.press('Tab')
    expect(await page.locator('.search-list').isVisible()).toBe(false)
    await type('aardwolf')
    await page.locator('.search-option').first().click()
    await page.waitForURL(`${server.url}/aardwolf_club`)
  })

  test('on a phone the list is within the screen and large enough for a finger', async () => {
    await page.setViewportSize(PHONE)
    await type('aardwolf')
    const box = await page.locator('.search-list').boundingBox()
    expect(box?.x).toBeGreaterThanOrEqual(0)
    expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(PHONE.width)
    expect((await page.locator('.search-option').first().boundingBox())?.height).toBeGreaterThanOrEqual(44)
    expect(await page.evaluate<boolean>('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    await look(page, 'search suggestions, phone')
  })

  test('without a script it is a form', async () => {
    const context = await browser.newContext({ javaScriptEnabled: false })
    const plain = await context.newPage()
    await plain.goto(`${server.url}/`)
    await plain.locator('.search input').fill('aardwolf')
    await plain.keyboard.press('Enter')
    await plain.waitForURL(`${server.url}/?q=aardwolf`)
    const links = await plain.locator('h3 a').evaluateAll(all => all.map(each => each.getAttribute('href')))
    expect(links).toEqual(['/aardwolf_club', '/dusty_aardwolf'])
    await context.close()
  })

  test('nothing failed on the way', () => expect(violations).toEqual([]))
})
