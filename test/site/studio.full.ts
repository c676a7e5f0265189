/**
 * The studio in a real browser, with a real encoder: from sign-up to a first broadcast, its markers, and the end. Every state
 * of the page is held against axe-core; a message on the console, a request to another host or a violation of the policy
 * fails the test.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { deleteCampaignOfWorld } from '../operations/drops/campaigns.ts'
import { hasBrowser, launchBrowser } from '../support/browser/browser.ts'
import { DESK, look } from '../support/browser/look.ts'
import { Encoders, hasEncoder } from '../support/media/encoder.ts'
import { startTestServer, type TestServer } from '../support/server.ts'

const LOGIN = 'quiet_heron'
const PASSWORD = 'a password for the studio'

describe.skipIf(!hasBrowser || !hasEncoder)('the studio in a real browser', () => {
  let server: TestServer
  let browser: Browser
  let context: BrowserContext
  let page: Page
  let encoder: Bun.Subprocess | undefined
  const encoders = new Encoders('testsrc2=size=320x180:rate=10')
  const violations: string[] = []

  beforeAll(async () => {
    server = await startTestServer('sqlite', {
      config: {
        listen: { host: 'localhost', port: 0 },
        rtmpListen: { host: '127.0.0.1', port: 0 },
        reconnectGraceSeconds: 1,
        record: true,
        signUp: true,
      },
    })
    await encoders.prepare()
    browser = await launchBrowser()
    context = await browser.newContext({
      viewport: DESK,
      permissions: ['clipboard-read', 'clipboard-write'],
      acceptDownloads: true,
    })
    page = await context.newPage()
    watch(page)
  })
  afterAll(async () => {
    await encoders.remove()
    await browser?.close()
    await server?.stop()
  })

  function watch(each: Page): void {
    each.on('console', message => {
      // A form that was refused is meant.
      const isMeant = /status of 400/.test(message.text())
      if (['error', 'warning'].includes(message.type()) && !isMeant) violations.push(message.text())
    })
    each.on('pageerror', error => violations.push(String(error)))
    each.on('request', request => {
      const isOurs = request.url().startsWith(`${server.url}/`) || /^(data|blob):/.test(request.url())
      if (!isOurs) violations.push(`asked ${request.url()}`)
    })
  }

  const button = (name: string) => page.getByRole('button', { name, exact: true })
  /** Presses a button that copies, and reads what it copied. */
  const copy = async (what: string) => {
    await button(`Copy ${what}`).click()
    await button(`Copied ${what}`).waitFor()
    return page.evaluate<string>('navigator.clipboard.readText()')
  }
  const untilPreviewPlays = async () => {
    while (!(await page.evaluate("document.querySelector('.preview video')?.currentTime > 0.5")))
      await Bun.sleep(100)
  }
  const shownKey = () => page.textContent('[data-key]')
  const publish = (url: string) => {
    encoder = encoders.publish(url.replace('localhost', '127.0.0.1'))
  }

  test('sign up, copy server and key, and be live: in one go', async () => {
    await page.goto(`${server.url}/signup?next=/studio`)
    await page.fill('#login', LOGIN)
    await page.fill('#password', PASSWORD)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'You are offline' }).waitFor()
    const address = await copy('the server URL')
    expect(address).toBe(`rtmp://localhost:${server.strand.rtmpPort}/live`)
    expect(await shownKey()).toMatch(/^•+$/)
    const key = await copy('the stream key')
    expect([key.length > 20, await shownKey()]).toEqual([true, expect.stringMatching(/^•+$/)])
    const command = await copy('the command, with the key')
    expect([command.slice(0, 11), command.endsWith(` '${address}/${key}'`)]).toEqual(['ffmpeg -re ', true])
    await button('Show the stream key').click()
    await page.getByText(key, { exact: true }).waitFor()
    await look(page, 'studio-offline')
    await button('Hide the stream key').click()
    expect(await shownKey()).toMatch(/^•+$/)

    publish(`${address}/${key}`)
    await page.locator('.studio .live').first().waitFor()
    await untilPreviewPlays()
    expect(await page.evaluate("document.querySelector('.preview video').muted")).toBe(true)
    await page.getByText('320 × 180').waitFor()
    await page.getByText('H.264 · AAC').waitFor()
    // The rates are known a little later than the size.
    await page
      .locator('.facts')
      .first()
      .filter({ hasText: /[kM]bit\/s.*[1-9]\d? fps/ })
      .waitFor()
    await page.getByText('Your stream is healthy.').waitFor()
    await page.locator('.line-chart canvas').waitFor()
    expect(await page.locator('.line-chart figcaption').textContent()).toContain('Viewers: ')
    await page.locator('.line-chart table tbody tr').first().waitFor({ state: 'attached' })
  })

  test('change title, game and tags without leaving the page, and see it on the home page', async () => {
    await page.fill('#title', 'Night dives with chat')
    const [{ name }] = (await server.control('GET', '/games?first=1')) as [{ name: string }]
    await page.fill('#game', '')
    await page.locator('#game').pressSequentially(name.slice(0, 4))
    await page.locator('#game-list [role=option]').first().waitFor()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    const picked = await page.inputValue('#game')
    await page.fill('#tags', 'Relaxed')
    await page.press('#tags', 'Enter')
    await button('Save').click()
    await page.getByText('Saved. Viewers see the change at once.').waitFor()
    await page.getByRole('heading', { name: 'Night dives with chat' }).waitFor()
    const home = await context.newPage()
    watch(home)
    await home.goto(server.url)
    const link = home.getByRole('link', { name: 'Night dives with chat' })
    await link.waitFor()
    expect(await home.locator('.card, .featured', { has: link }).first().textContent()).toContain(picked)
    await home.close()
    await page.fill('#title', ' ')
    await page.fill('#tags', 'no-dashes')
    await button('Save').click()
    await page.locator('#channel [role=alert]').waitFor()
  })

  test('add markers with the key m, rename and delete one, export them', async () => {
    const marks = page.locator('.marks > li')
    await page.keyboard.press('Escape')
    await page.evaluate('document.activeElement.blur()')
    await page.keyboard.press('m')
    await page.getByText('Marker added.').waitFor()
    expect(await marks.count()).toBe(1)
    await page.fill('#marker-description', 'the jump, mm')
    expect(await marks.count()).toBe(1)
    await page.keyboard.press('Enter')
    await page.locator('.marks', { hasText: 'the jump, mm' }).waitFor()
    expect([await marks.count(), await page.inputValue('#marker-description')]).toEqual([2, ''])
    await page.locator('.marks summary').first().click()
    await page.locator('#game').pressSequentially(' ')
    await page.locator('#game-list [role=option]').first().waitFor()
    await look(page, 'studio-live')
    await page.locator('.marks details[open] input[name=description]').fill('the jump')
    await page.locator('.marks details[open]').getByRole('button', { name: 'Rename' }).click()
    await page.getByText('Marker renamed.').waitFor()
    await page.locator('.marks summary').last().click()
    await page.locator('.marks details[open]').getByRole('button', { name: 'Delete' }).click()
    await page.getByText('Marker deleted.').waitFor()
    expect(await marks.allTextContents()).toEqual([expect.stringContaining('the jump')])
    await page.getByText('Export', { exact: true }).click()
    const download = page.waitForEvent('download')
    await page.getByText('CSV, for spreadsheets').click()
    const file = await download
    expect(file.suggestedFilename()).toMatch(/^quiet_heron-[0-9]+-markers\.csv$/)
    expect(readFileSync((await file.path()) ?? '', 'utf8')).toMatch(/,the jump,/)
  })

  test('the other pages, by their tabs; replace the key while the broadcast runs, which continues', async () => {
    await page.reload()
    // What others might see on a screen that is broadcast.
    expect(await page.locator('[data-key]').count()).toBe(0)
    for (const tab of ['Videos', 'Editors', 'Channel']) {
      await page.getByRole('navigation', { name: 'Studio' }).getByRole('link', { name: tab }).click()
      await page.locator('.tabs [aria-current=page]', { hasText: tab }).waitFor()
      await look(page, `studio-${tab.toLowerCase()}`)
    }
    await button('Show the stream key').click()
    await button('Hide the stream key').waitFor()
    const old = await shownKey()
    await page.getByText('New key…').click()
    await button('Replace the key').click()
    await page.getByText('Your channel has a new stream key.').waitFor()
    const key = await copy('the stream key')
    expect([key.length, key === old]).toEqual([old?.length ?? 0, false])
    expect((await fetch(`${server.url}/live/${LOGIN}.m3u8`, { method: 'HEAD' })).ok).toBe(true)
  })

  test('the end: offline again, and the marker is on the timeline of the video', async () => {
    await page.getByRole('navigation', { name: 'Studio' }).getByRole('link', { name: 'Live' }).click()
    await untilPreviewPlays()
    encoder?.kill('SIGTERM')
    await page.getByRole('heading', { name: 'You are offline' }).waitFor()
    await page.getByRole('navigation', { name: 'Studio' }).getByRole('link', { name: 'Videos' }).click()
    await page.locator('.video-rows a', { hasText: 'Night dives with chat' }).first().click()
    await page.getByText('the jump').waitFor()
    expect(await page.locator('.pin').count()).toBe(1)
  })

  test('drops, and everything without a script', async () => {
    await deleteCampaignOfWorld(server)
    await page.goto(`${server.url}/drops`)
    await page.getByText('No drops yet').waitFor()
    const [user] = (await server.control('GET', `/users?login=${LOGIN}`)) as [{ id: string }]
    const { benefit, game } = server.world
    const grant = { user_id: user.id, benefit_id: benefit.id, game_id: game.id }
    await server.control('POST', '/entitlements', { grants: [grant, grant] })
    await page.reload()
    expect(await page.locator('.drops > li').count()).toBe(2)
    await look(page, 'drops')
    const cookies = await context.cookies()
    const plain = await browser.newContext({ javaScriptEnabled: false, viewport: DESK })
    await plain.addCookies(cookies)
    const bare = await plain.newPage()
    await bare.goto(`${server.url}/studio`)
    await bare.fill('#title', 'Without a script')
    await bare.getByRole('button', { name: 'Save' }).click()
    await bare.getByText('Saved.').waitFor()
    expect(await bare.inputValue('#title')).toBe('Without a script')
    await bare.getByRole('button', { name: 'Show the stream key' }).click()
    expect(await bare.textContent('[data-key]')).not.toContain('•')
    await plain.close()
  })

  test('no error on the console, no other host, nothing that the policy forbids', () => {
    expect(violations).toEqual([])
  })
})
