/**
 * The pages in a real browser: a person logs in with the keyboard, an application is allowed, denied and disconnected, a
 * device is activated. Every page that is seen on the way is held against axe-core in both colour schemes and two widths,
 * and nothing is asked of any other host. STRAND_PICTURES names a folder to keep pictures in.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { hasBrowser, launchBrowser } from '../support/browser/browser.ts'
import { authorizeLink, challengeOf, register, validate, verifier } from '../support/browser/consent.ts'
import { DESK, look as lookAt } from '../support/browser/look.ts'
import { startTestServer, type TestServer } from '../support/server.ts'

describe.skipIf(!hasBrowser)('in a real browser', () => {
  let server: TestServer
  let browser: Browser
  let context: BrowserContext
  let page: Page
  /** The application: it only notes where people come back to. */
  let application: ReturnType<typeof Bun.serve>
  let callback: string
  const cameBack: URL[] = []
  const violations: string[] = []

  beforeAll(async () => {
    server = await startTestServer('sqlite', { config: { listen: { host: 'localhost', port: 0 } } })
    application = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch: request => {
        if (request.url.includes('/callback')) cameBack.push(new URL(request.url))
        return new Response('<!doctype html><title>Back</title><h1>Back at the application</h1>', {
          headers: { 'Content-Type': 'text/html' },
        })
      },
    })
    callback = `http://localhost:${application.port}/callback`
    browser = await launchBrowser()
    await newPerson()
  })
  afterAll(async () => {
    await browser.close()
    await application.stop(true)
    await server.stop()
  })

  /** A browser without any cookies. Its errors and requests are recorded. */
  async function newPerson(options: { javaScriptEnabled?: boolean } = {}): Promise<void> {
    await context?.close()
    context = await browser.newContext({ viewport: DESK, ...options })
    page = await context.newPage()
    page.on('console', message => {
      // That a form was refused with 4xx, or a frame, is logged as an error too, and is meant.
      const { type, text } = { type: message.type(), text: message.text() }
      if (type === 'error' && !/status of 4\d\d|frame-ancestors/.test(text)) violations.push(text)
    })
    page.on('pageerror', error => violations.push(String(error)))
    page.on('request', request => {
      const { protocol, hostname, port } = new URL(request.url())
      const known = [new URL(server.url).port, String(application.port)]
      if (protocol !== 'data:' && (hostname !== 'localhost' || !known.includes(port)))
        violations.push(`asked ${request.url()}`)
    })
  }

  /** Looks at the page that is open. */
  const look = (name: string) => lookAt(page, name)

  const link = (client_id: string, changes: Record<string, string | undefined> = {}) =>
    server.url + authorizeLink(client_id, { redirect_uri: callback, ...changes })

  /** Does what leads to another page, and waits for that. */
  async function leaving(act: () => Promise<void>): Promise<void> {
    await Promise.all([page.waitForEvent('framenavigated'), act()])
    await page.waitForLoadState()
  }

  /** Types name and password and presses Enter, without a mouse. */
  async function logIn(
    { login, password } = server.world.users[0] ?? { login: '', password: '' },
  ): Promise<void> {
    await page.locator('#login:focus').waitFor()
    await page.keyboard.type(login)
    await page.keyboard.press('Tab')
    await page.keyboard.type(password)
    await leaving(() => page.keyboard.press('Enter'))
  }

  const press = async (name: string) => {
    await leaving(() => page.getByRole('button', { name }).first().click())
  }

  const redeem = (body: Record<string, string | undefined>) =>
    server.call({
      method: 'POST',
      path: '/oauth2/token',
      body: { grant_type: 'authorization_code', ...body },
    })

  test('log in, consent, code, token, a scoped call', async () => {
    const { id, secret = '' } = await register(server, {
      name: 'Stream overlay',
      organization_id: server.world.organization.id,
    })
    const scope = 'user:read:follows channel:read:stream_key user:read:entitlements'
    await page.goto(link(id, { scope }))
    await look('login')
    await page.locator('#login:focus').waitFor()
    await page.keyboard.type('nobody_here')
    await page.keyboard.press('Tab')
    await page.keyboard.type('wrong')
    await leaving(() => page.keyboard.press('Enter'))
    await page.waitForSelector('[role=alert]')
    await look('login-wrong')
    await page.fill('#login', '')
    await page.focus('#login')
    await logIn()
    expect(await page.textContent('h1')).toBe('Stream overlay asks for access')
    await look('consent')
    await press('Allow')
    await page.waitForSelector('text=Back at the application')
    const back = cameBack.at(-1)?.searchParams
    expect(back?.get('state')).toBe('state of the app')
    const answer = await redeem({
      client_id: id,
      client_secret: secret,
      code: back?.get('code') ?? '',
      redirect_uri: callback,
    })
    expect(answer.status).toBe(200)
    const user = server.world.users[0]
    const key = await server.call({
      path: '/helix/streams/key',
      query: { broadcaster_id: user?.id },
      token: answer.body.access_token,
      headers: { 'Client-Id': id },
    })
    expect(key.body.data[0].stream_key).toStartWith('live_')
  })

  test('deny, by a public client with PKCE, without JavaScript; then allow', async () => {
    await newPerson({ javaScriptEnabled: false })
    const { id } = await register(server, { kind: 'public', name: 'Browser app' })
    const code_verifier = verifier()
    const proof = { code_challenge: challengeOf(code_verifier), code_challenge_method: 'S256' }
    await page.goto(link(id, proof))
    await page.focus('#login')
    await logIn()
    await press('Deny')
    await page.waitForURL(/callback/)
    expect(cameBack.at(-1)?.searchParams.get('error')).toBe('access_denied')
    await page.goto(link(id, proof))
    await press('Allow')
    await page.waitForURL(/callback/)
    const code = cameBack.at(-1)?.searchParams.get('code') ?? ''
    const answer = await redeem({ client_id: id, code, redirect_uri: callback, code_verifier })
    expect(answer.status).toBe(200)
    await newPerson()
  })

  test('a device is activated', async () => {
    const { id } = await register(server, { kind: 'public', name: 'Living room' })
    const start = await server.call({
      method: 'POST',
      path: '/oauth2/device',
      query: { client_id: id, scopes: 'user:read:follows' },
    })
    await page.goto(`${server.url}/activate`)
    await logIn()
    await look('activate')
    await page.locator('#device-code:focus').waitFor()
    await page.keyboard.type('wrongwro')
    await leaving(() => page.keyboard.press('Enter'))
    await page.waitForSelector('[role=alert]')
    await look('activate-wrong')
    await page.fill('#device-code', start.body.user_code.toLowerCase())
    await page.keyboard.press('Enter')
    await page.waitForSelector('text=Living room asks for access')
    await look('activate-consent')
    await press('Allow')
    await page.waitForSelector('text=Device connected')
    await look('activate-done')
    const grant_type = 'urn:ietf:params:oauth:grant-type:device_code'
    const answer = await redeem({ grant_type, client_id: id, device_code: start.body.device_code })
    expect((await validate(server, answer.body.access_token)).status).toBe(200)
  })

  test('the account page disconnects an application, and its tokens are dead', async () => {
    const { id, secret = '' } = await register(server, { name: 'Soon gone' })
    await page.goto(link(id))
    await press('Allow')
    await page.waitForURL(/callback/)
    const code = cameBack.at(-1)?.searchParams.get('code') ?? ''
    const { body } = await redeem({ client_id: id, client_secret: secret, code, redirect_uri: callback })
    expect((await validate(server, body.access_token)).status).toBe(200)
    await page.goto(`${server.url}/account`)
    await look('account')
    await page.getByRole('button', { name: 'Disconnect Soon gone' }).click()
    await page.waitForSelector('[role=status]')
    await look('account-done')
    expect(await page.textContent('main')).not.toContain('Soon gone')
    expect((await validate(server, body.access_token)).status).toBe(401)
  })

  test('a changed password logs other browsers out; then this one logs out', async () => {
    const user = server.world.users[0] ?? { login: '', password: '' }
    const elsewhere = await browser.newContext()
    const other = await elsewhere.newPage()
    await other.goto(`${server.url}/login`)
    await other.fill('#login', user.login)
    await other.fill('#password', user.password)
    await other.keyboard.press('Enter')
    await other.waitForURL(/account/)
    await page.goto(`${server.url}/account`)
    await page.fill('#current', user.password)
    await page.fill('#password', 'a new password')
    await press('Change password')
    await page.waitForSelector('[role=status]')
    await other.goto(`${server.url}/account`)
    expect(other.url()).toContain('/login')
    await elsewhere.close()
    await page.getByRole('button', { name: 'Log out', exact: true }).click()
    await page.getByText('You are logged out.').waitFor()
    expect(new URL(page.url()).pathname).toBe('/')
  })

  test('a link to a marker leads to the page of its video', async () => {
    const { broadcaster } = server.world
    const answer = await server.call({
      path: '/helix/streams/markers',
      query: { user_id: broadcaster.id },
      token: broadcaster.token,
    })
    const [{ markers }] = answer.body.data[0].videos
    for (const [name, url] of [
      ['video', markers[4].url.replace(/\?.*/, '')],
      ['video-position', markers[4].url],
    ] as const) {
      await page.goto(url.replace('127.0.0.1', 'localhost'))
      expect(await page.textContent('.byline')).toBe(answer.body.data[0].user_name)
      await look(name)
    }
    expect(await page.textContent('.position')).toContain('This link points to')
    await page.goto(`${server.url}/videos/999`)
    expect(await page.textContent('h1')).toBe('Video not found')
    await look('video-unknown')
  })

  test('a wrong link is an error page', async () => {
    await page.goto(link('unknown'))
    expect(await page.textContent('h1')).toBe('Unknown application')
    await look('problem')
  })

  test('no other site can frame the pages', async () => {
    const { id } = await register(server)
    await page.route(`http://localhost:${application.port}/frame`, route =>
      route.fulfill({ contentType: 'text/html', body: `<iframe src="${link(id)}"></iframe>` }),
    )
    const refused = page.waitForEvent('requestfailed')
    await page.goto(`http://localhost:${application.port}/frame`)
    expect((await refused).url()).toContain('/oauth2/authorize')
    expect(await page.frames()[1]?.locator('form').count()).toBe(0)
  })

  test('no errors, and no other host was asked', () => {
    expect(violations).toEqual([])
  })
})
