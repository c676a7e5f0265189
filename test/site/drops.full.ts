/**
 * What a viewer of a drops campaign does, in a real browser: finds a channel that counts, watches, sees the bar move with the
 * heartbeats of the player, claims, and has the drop; the studio gets a webhook with the campaign. The clocks of the server and
 * of the browser are moved together, half a minute at a time; with TEST_REAL_TIME=1 the two minutes pass.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { type Demo, serveDemo } from '../../src/server/serve-demo.ts'
import { Receiver, SECRET, until } from '../events/receiver.ts'
import { hasBrowser, launchBrowser } from '../support/browser/browser.ts'
import { DESK, look } from '../support/browser/look.ts'
import { openWatched } from '../support/browser/watched-page.ts'

const isRealTime = process.env.TEST_REAL_TIME === '1'
const STEP_SECONDS = 30
const TIME_LIMIT = 300_000

describe.skipIf(!hasBrowser)('a drops campaign in a real browser', () => {
  const receiver = new Receiver()
  const violations: string[][] = []
  const campaign_id = crypto.randomUUID()
  const drops = [2, 30].map(required_minutes => ({
    id: crypto.randomUUID(),
    name: `Step ${required_minutes}`,
    required_minutes,
  }))
  let demo: Demo
  let browser: Browser
  let storageState: NonNullable<BrowserContextOptions['storageState']>
  let channel: { user_id: string; user_login: string; game_id: string; viewer_count: number }

  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely
  async function call(method: string, path: string, token: string, body?: object): Promise<any> {
    const response = await fetch(demo.world.base_url + path, {
      method,
      headers: {
        Authorization: `Bearer ${token}`,
        'Client-Id': demo.world.client.id,
        'Content-Type': 'application/json',
      },
      ...(body && { body: JSON.stringify(body) }),
    })
    if (!response.ok) throw new Error(`${method} ${path}: ${await response.text()}`)
    return response.status === 204 ? undefined : ((await response.json()) as { data: unknown }).data
  }
  const control = (method: string, path: string, body?: object) =>
    call(method, `/control${path}`, demo.world.operator_token, body)
  const readStream = async () =>
    (await call('GET', `/helix/streams?user_id=${channel.user_id}`, demo.world.client.app_token))[0]

  /** A page of the viewer. Everything wrong with it is recorded. */
  async function openPage(options: BrowserContextOptions = {}): Promise<Page> {
    const opened = await openWatched(browser, demo.world.base_url, undefined, {
      viewport: DESK,
      storageState,
      ...options,
    })
    violations.push(opened.violations)
    return opened.page
  }

  beforeAll(async () => {
    demo = await serveDemo({
      port: 0,
      seed: 42,
      streams: 30,
      movingViewers: false,
      settings: { STRAND_LOG: 'error' },
    })
    browser = await launchBrowser()
    const { world } = demo
    await control('DELETE', `/campaigns/${world.campaign.id}`)
    const streams = await call('GET', '/helix/streams?first=20', world.client.app_token)
    channel = streams.find((each: typeof channel) => each.game_id !== '' && each.user_id !== world.viewer.id)
    const organization_id = world.organization.id
    const benefits = await Promise.all(
      ['Red kite', 'Storm kite'].map(name => control('POST', '/benefits', { name, organization_id })),
    )
    await control('PUT', `/campaigns/${campaign_id}`, {
      name: 'Kite week',
      organization_id,
      game_id: channel.game_id,
      channels: 'listed',
      channel_ids: [channel.user_id],
      starts_at: new Date(Date.now() - 3_600_000).toISOString(),
      ends_at: new Date(Date.now() + 86_400_000).toISOString(),
      account_link: 'none',
      drops: drops.map((drop, at) => ({ ...drop, benefit_ids: [benefits[at][0].id] })),
    })
    await control('POST', `/campaigns/${campaign_id}/publish`)
    await call('POST', '/helix/eventsub/subscriptions', world.client.app_token, {
      type: 'drop.entitlement.grant',
      version: '1',
      condition: { organization_id },
      transport: { method: 'webhook', callback: receiver.url(), secret: SECRET },
      is_batching_enabled: true,
    })
    await until(() => receiver.of('webhook_callback_verification').length > 0)
    const page = await browser.newPage()
    const { login, password } = world.users.find(({ id }) => id === world.viewer.id) ?? {
      login: '',
      password: '',
    }
    await page.goto(`${world.base_url}/login?next=/drops`)
    await page.fill('#login', login)
    await page.fill('#password', password)
    await Promise.all([
      page.waitForURL(({ pathname }) => pathname === '/drops'),
      page.keyboard.press('Enter'),
    ])
    storageState = await page.context().storageState()
    await page.context().close()
  }, TIME_LIMIT)
  afterAll(async () => {
    await browser?.close()
    await demo?.stop()
    await receiver.stop()
  })

  const barOf = async (page: Page) =>
    Number(await page.locator('.minutes-bar').first().getAttribute('aria-valuenow'))

  /** Half a minute later, when the player has sent its heartbeat. */
  async function waitHalfAMinute(page: Page): Promise<void> {
    const heard = page.waitForResponse(response => response.url().endsWith('/playback/heartbeat'), {
      timeout: 2 * STEP_SECONDS * 1000,
    })
    if (!isRealTime) {
      await control('POST', '/clock', { advance_seconds: STEP_SECONDS })
      await page.clock.fastForward(STEP_SECONDS * 1000)
    }
    expect((await heard).status()).toBe(200)
  }

  test(
    'watch, see the bar move, claim, and have it',
    async () => {
      const { world } = demo
      const page = await openPage()
      if (!isRealTime) await page.clock.install()
      await page.goto(`${world.base_url}/drops`)
      expect(await barOf(page)).toBe(0)
      const first = page.waitForResponse(response => response.url().endsWith('/playback/heartbeat'))
      await page.getByRole('link', { name: 'Watch a channel for Kite week' }).click()
      await page.waitForURL(`**/${channel.user_login}`)
      await page.locator('.player[data-state=playing]').waitFor()
      await page.locator('video[data-part=video]').waitFor()
      expect(await (await first).json()).toMatchObject({ reason: 'too_early' })
      await page.getByText('Minutes count when you have watched for a minute.').waitFor()
      const bars = [await barOf(page)]
      for (
        let steps = 0;
        steps < 6 && (await page.getByRole('button', { name: 'Claim Red kite' }).count()) === 0;
        steps++
      ) {
        await waitHalfAMinute(page)
        await page.evaluate('new Promise(resolve => queueMicrotask(resolve))')
        bars.push(await barOf(page))
      }
      // It moved by a minute at a time, up to the drop.
      expect(bars.toSorted((a, b) => a - b)).toEqual(bars)
      expect([...new Set(bars)]).toEqual([0, 1, 2])
      await page.getByRole('button', { name: 'Claim Red kite' }).click()
      await page.getByText('You earned Red kite.').waitFor()
      await page.locator('.campaign-drops li.claimed').waitFor()
      expect(await page.getByRole('button', { name: 'Claim' }).count()).toBe(0)
      // The video went on, and its invented viewers are as many as before.
      expect(await page.evaluate<number>('document.querySelector("video").currentTime')).toBeGreaterThan(0)
      expect((await readStream()).viewer_count).toBe(channel.viewer_count)
      await page.context().close()
      const after = await openPage()
      await after.goto(`${world.base_url}/drops`)
      expect(await after.locator('#earned li', { hasText: 'Red kite' }).count()).toBe(1)
      const events = () => receiver.notifications().flatMap(({ body }) => body.events)
      await until(() => events().length > 0)
      expect(events().map(({ data }) => [data.user_id, data.campaign_id])).toEqual([
        [world.viewer.id, campaign_id],
      ])
      expect(receiver.forged).toEqual([])
      await look(after, 'drops')
      await after.goto(`${world.base_url}/${channel.user_login}`)
      await look(after, 'channel-drops')
      await after.goto(`${world.base_url}/?drops=1`)
      await after.locator('.badge.with-drops').first().waitFor()
      await look(after, 'home-drops')
      await after.context().close()
    },
    TIME_LIMIT,
  )

  test('claim without a script', async () => {
    const { world } = demo
    await control('POST', `/campaigns/${campaign_id}/viewers/${world.viewer.id}/minutes`, { add: 30 })
    const page = await openPage({ javaScriptEnabled: false })
    await page.goto(`${world.base_url}/${channel.user_login}`)
    expect(await page.textContent('.bar nav .count')).toBe('1 to claim')
    await page.getByRole('button', { name: 'Claim Storm kite' }).click()
    await page.getByText('You earned Storm kite.').waitFor()
    for (const name of ['Red kite', 'Storm kite'])
      expect(await page.locator('#earned h3', { hasText: name }).count()).toBe(1)
    expect(await page.locator('.bar nav .count').count()).toBe(0)
    await page.context().close()
  })

  test('the console: a campaign from nothing to its funnel, by keyboard and eye', async () => {
    const { world } = demo
    const page = await openPage({ storageState: { cookies: [], origins: [] } })
    await page.goto(`${world.base_url}/console`)
    await page.fill('#password', world.operator_token)
    await Promise.all([page.waitForSelector('.console'), page.keyboard.press('Enter')])
    await page.goto(`${world.base_url}/console/campaigns`)
    await page.getByRole('link', { name: 'Create campaign' }).click()
    await page.getByLabel('Name', { exact: true }).fill('Made here')
    await page.getByLabel('Organization').fill(world.organization.id)
    await page.getByLabel('Game').fill(channel.game_id)
    await page.getByLabel('Starts').fill('2030-01-01T12:00')
    await page.getByLabel('Ends').fill('2030-01-08T12:00')
    await page.getByLabel('Name 1').fill('First')
    await page.getByLabel('Minutes 1').fill('30')
    await page.getByLabel('Benefits 1').fill('Red kite\nStorm kite')
    await look(page, 'console-campaign-new')
    await page.getByRole('button', { name: 'Create campaign' }).click()
    await page.getByText('The campaign was saved.').waitFor()
    expect(await page.locator('.part', { hasText: 'Drops' }).first().textContent()).toContain('Storm kite')
    await page.getByRole('link', { name: 'Publish' }).click()
    await page.getByRole('button', { name: 'Publish' }).click()
    await page.getByText('The campaign is published.').waitFor()
    await page.goto(`${world.base_url}/console/campaigns/${campaign_id}`)
    expect(await page.locator('.share-of').count()).toBe(4)
    await look(page, 'console-campaign')
    await page.getByRole('link', { name: 'Explain' }).click()
    await page.getByLabel('User').fill(world.viewer.id)
    await page.getByLabel('Channel').fill(channel.user_login)
    await page.getByRole('button', { name: 'Explain' }).click()
    await page.locator('tr[data-key=account_linked]').waitFor()
    await look(page, 'console-campaign-explain')
    await page.context().close()
  })

  test('nothing was wrong with any page', () => {
    expect(violations.flat()).toEqual([])
  })
})
