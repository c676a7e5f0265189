/**
 * The operator console in a real browser: an operator logs in, grants entitlements, sees them fulfilled by the application,
 * ends a stream and verifies the audit log. STRAND_PICTURES names a folder to keep pictures in.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { hasBrowser, launchBrowser } from '../support/browser/browser.ts'
import { DESK, look as lookAt } from '../support/browser/look.ts'
import { startTestServer, type TestServer } from '../support/server.ts'

describe.skipIf(!hasBrowser)('the console in a real browser', () => {
  let server: TestServer
  let browser: Browser
  let context: BrowserContext
  let page: Page
  let url: string
  const violations: string[] = []

  beforeAll(async () => {
    const localhost = { host: 'localhost', port: 0 }
    server = await startTestServer('sqlite', { config: { listen: localhost, operatorListen: localhost } })
    url = server.strand.controlUrl.replace(/\/control$/, '')
    browser = await launchBrowser()
    await newOperator()
  })
  afterAll(async () => {
    await browser.close()
    await server.stop()
  })

  /** A browser without cookies. What it reports as an error, and which hosts it asks, is noted. */
  async function newOperator(options: { javaScriptEnabled?: boolean } = {}): Promise<void> {
    await context?.close()
    context = await browser.newContext({ viewport: DESK, ...options })
    page = await context.newPage()
    page.on('console', message => {
      const text = message.text()
      if (message.type() === 'error' && !/status of 4\d\d/.test(text)) violations.push(text)
    })
    page.on('pageerror', error => violations.push(String(error)))
    page.on('request', request => {
      const { protocol, host } = new URL(request.url())
      if (protocol !== 'data:' && host !== new URL(url).host) violations.push(`asked ${request.url()}`)
    })
    await page.goto(`${url}/console`)
  }

  async function logIn(): Promise<void> {
    await page.locator('#password').fill(server.world.operator_token)
    await page.keyboard.press('Enter')
    await page.waitForSelector('.console h1')
  }

  const open = (path: string) => page.goto(`${url}/console${path}`)
  /** Opens a page whose keys are in use: the script that listens to them has run. */
  const openWithKeys = async (path: string) => {
    await open(path)
    await page.waitForSelector('.live-state.is-live')
  }
  const press = (name: string) => page.locator('main').getByRole('button', { name, exact: true }).click()
  const look = (name: string) => lookAt(page, `console-${name}`)

  test('a wrong token is refused, the right one opens the overview with live charts', async () => {
    await look('log-in')
    await page.locator('#password:focus').waitFor()
    await page.keyboard.type('wrong')
    await page.keyboard.press('Enter')
    await page.waitForSelector('[role=alert]')
    await logIn()
    expect(await page.textContent('h1')).toBe('Overview')
    // No script can read the session, and the page holds no token.
    expect(await page.evaluate<string>('document.cookie')).toBe('')
    expect(await page.content()).not.toContain(server.world.operator_token)
    await page.waitForSelector('.uplot canvas')
    // Another point for each of the eight charts, without reloading.
    await page.locator('.chart .legend').nth(7).waitFor()
    const before = await page.locator('.chart table tbody tr').count()
    await page.locator('.chart table tbody tr').nth(before).waitFor({ state: 'attached' })
    await page.waitForSelector('.live-state.is-live')
    // Each chart reaches the edges of its card: no more is left than its padding and the labels of its axes.
    const gaps = await page.locator('.chart').evaluateAll(cards =>
      cards.map(card => {
        const [outer, inner] = [card, card.querySelector('.u-over')].map(each =>
          each?.getBoundingClientRect(),
        )
        if (outer === undefined || inner === undefined) return 'no chart'
        return (
          inner.left - outer.left < 80 && outer.right - inner.right < 24 && outer.bottom - inner.bottom < 40
        )
      }),
    )
    expect(gaps).toEqual(gaps.map(() => true))
    expect(gaps.length).toBe(8)
    await look('overview')
  })

  test('grants entitlements, and sees them fulfilled by a PATCH without reloading', async () => {
    const { broadcaster, viewer, client } = server.world
    await open('/entitlements/new')
    await page.fill('#input-user_ids', `${broadcaster.login}\n${viewer.id}`)
    await page.fill('#input-benefit_id', server.world.benefit.id)
    await page.fill('#input-game_id', server.world.game.id)
    await press('Grant entitlements')
    await page.waitForSelector('.notice.good')
    await page.fill('#input-user_id', viewer.id)
    await press('Filter')
    await page.waitForURL(/user_id/)
    const id = (await page.locator('tbody tr').first().getAttribute('data-key')) ?? ''
    expect(await page.locator('tbody tr').first().textContent()).toContain('claimed')
    const answer = await server.call({
      method: 'PATCH',
      path: '/helix/entitlements/drops',
      body: { entitlement_ids: [id], fulfillment_status: 'FULFILLED' },
      token: client.app_token,
      headers: { 'Client-Id': client.id },
    })
    expect(answer.body.data[0].status).toBe('SUCCESS')
    await page.waitForSelector(`tr[data-key="${id}"] .status.good`)
    await look('entitlements')
    await page.locator(`tr[data-key="${id}"] .row-link`).click()
    await page.waitForSelector('section[aria-label="History"]')
    expect(await page.textContent('section[aria-label="History"]')).toContain(`client/${client.id}`)
  })

  test('ends a stream, with the keyboard, after a question', async () => {
    await openWithKeys('/streams')
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    await page.keyboard.press('k')
    const row = page.locator('tbody tr').first()
    const id = (await row.getAttribute('data-key')) ?? ''
    expect(await page.evaluate<string>('document.activeElement.closest("tr").dataset.key')).toBe(id)
    await page.keyboard.press('Enter')
    await page.waitForURL(`${url}/console/streams/${id}`)
    await page.getByRole('link', { name: 'End stream' }).click()
    await page.waitForURL(/\/end$/)
    await look('question')
    await press('End stream')
    await page.waitForSelector('.notice.good')
    expect(await page.locator(`tr[data-key="${id}"]`).count()).toBe(0)
    expect(server.strand.services.directory.size).toBe(11)
  })

  test('verifies the audit log', async () => {
    await open('/audit?operation=EndStream')
    await page.locator('.row-link').first().click()
    await page.waitForSelector('.changes')
    expect(await page.textContent('tr.open')).toContain('EndStream')
    await look('audit')
    await press('Verify the log')
    await page.waitForSelector('text=The audit log is intact')
  })

  test('registers a client, whose secret is shown once', async () => {
    await open('/clients/new')
    await page.fill('#input-name', 'Console test')
    await press('Register client')
    await page.waitForSelector('text=not shown again')
    expect(await page.inputValue('#secret-secret')).toMatch(/^ssec_/)
    server.canaries.note(await page.content())
    await page.getByRole('button', { name: 'Copy' }).waitFor()
  })

  test('searches, and every kind of page is accessible in both widths and schemes', async () => {
    const { broadcaster } = server.world
    await openWithKeys('/organizations')
    await page.keyboard.press('/')
    await page.keyboard.type(broadcaster.login)
    await page.keyboard.press('Enter')
    await page.waitForURL(`${url}/console/users/${broadcaster.id}`)
    await look('user')
    await open('/demo')
    await look('demo')
    await open('/users/new')
    await page.fill('#input-login', 'no spaces allowed')
    await press('Create user')
    await page.locator('#input-login:focus[aria-invalid=true]').waitFor()
    expect(await page.textContent('#input-login-mistake')).toContain('letters, digits or underscores')
    await look('mistake')
  })

  test('reads and changes without scripts, and is logged out in every tab', async () => {
    await newOperator({ javaScriptEnabled: false })
    await logIn()
    await open('/games/new')
    await page.fill('#input-name', 'Made without scripts')
    await press('Create game')
    await page.waitForSelector('.notice.good')
    expect(await page.textContent('h1')).toBe('Made without scripts')
    await newOperator()
    await logIn()
    await open('/streams')
    const other = await context.newPage()
    await other.goto(`${url}/console`)
    await other.locator('.rail').getByRole('button', { name: 'Log out' }).click()
    await other.waitForSelector('#password')
    await page.getByRole('link', { name: 'Logged out: log in' }).waitFor()
  })

  test('no error in the browser, no other host', () => {
    expect(violations).toEqual([])
  })
})
