/**
 * The site with the keyboard alone, in a real browser: watch, follow, share, go live, set a marker and open its moment, claim
 * a drop. At every step, what has the focus is seen and shows it. Then the same pages without a script.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { deleteCampaignOfWorld, newBenefit, publishedCampaign } from '../operations/drops/campaigns.ts'
import { hasBrowser, launchBrowser } from '../support/browser/browser.ts'
import { tabThrough, tabTo } from '../support/browser/keyboard.ts'
import { DESK, look } from '../support/browser/look.ts'
import { openWatched } from '../support/browser/watched-page.ts'
import { Encoders, hasEncoder } from '../support/media/encoder.ts'
import { startTestServer, type TestServer } from '../support/server.ts'

const PERMISSIONS = ['clipboard-read', 'clipboard-write']
const TIME_LIMIT = 300_000

describe.skipIf(!hasBrowser || !hasEncoder)('the site with the keyboard alone', () => {
  let server: TestServer
  let browser: Browser
  let viewer: Page
  let broadcaster: Page
  let login: string
  let video_path: string
  const encoders = new Encoders('testsrc2=size=320x180:rate=10')
  const violations: string[][] = []

  const userWith = (id: string) =>
    server.world.users.find(user => user.id === id) ?? { login: '', password: '' }

  async function open(options: BrowserContextOptions = {}): Promise<Page> {
    const opened = await openWatched(browser, server.url, /net::ERR_FAILED/, {
      viewport: DESK,
      permissions: PERMISSIONS,
      ...options,
    })
    violations.push(opened.violations)
    return opened.page
  }

  /** Logs in with the keyboard: the field for the name has the focus. */
  async function logIn(user_id: string, next: string): Promise<Page> {
    const page = await open()
    const user = userWith(user_id)
    await page.goto(`${server.url}/login?next=${next}`)
    await tabTo(page, page.locator('#login'))
    await page.keyboard.type(user.login)
    await tabTo(page, page.locator('#password'))
    await page.keyboard.type(user.password ?? '')
    await page.keyboard.press('Enter')
    await page.waitForURL(server.url + next)
    return page
  }

  const clipboard = (page: Page) => page.evaluate<string>('navigator.clipboard.readText()')
  const isPlaying = (page: Page) => page.locator('[data-player][data-state=playing]').waitFor()

  beforeAll(async () => {
    server = await startTestServer('sqlite', {
      config: {
        listen: { host: 'localhost', port: 0 },
        rtmpListen: { host: '127.0.0.1', port: 0 },
        reconnectGraceSeconds: 1,
        record: true,
      },
    })
    await encoders.prepare()
    browser = await launchBrowser()
    const { offline } = server.world
    login = userWith(offline.id).login
  })
  afterAll(async () => {
    await encoders.remove()
    await browser?.close()
    await server?.stop()
  })

  test(
    'go live: copy the key in the studio, publish, and see the broadcast arrive',
    async () => {
      broadcaster = await logIn(server.world.offline.id, '/studio')
      const copy = broadcaster.getByRole('button', { name: 'Copy the stream key' })
      await copy.waitFor()
      await tabTo(broadcaster, copy)
      await broadcaster.keyboard.press('Enter')
      await broadcaster.getByRole('button', { name: 'Copied the stream key' }).waitFor()
      const key = await clipboard(broadcaster)
      encoders.publish(`rtmp://127.0.0.1:${server.strand.rtmpPort}/live/${key}`)
      await broadcaster.locator('.studio .live').first().waitFor()
    },
    TIME_LIMIT,
  )

  test(
    'watch: from the home page to a channel that plays; pause it and play on',
    async () => {
      viewer = await logIn(server.world.viewer.id, '/')
      const card = viewer.locator(`a[href="/${login}"]`).first()
      await card.waitFor()
      await tabTo(viewer, card)
      await viewer.keyboard.press('Enter')
      await viewer.waitForURL(`${server.url}/${login}`)
      await isPlaying(viewer)
      await tabTo(viewer, viewer.locator('[data-part=toggle]'))
      await viewer.keyboard.press('Enter')
      await viewer.locator('[data-player]:not([data-state=playing])').waitFor()
      await viewer.keyboard.press('k')
      await isPlaying(viewer)
      expect(await tabThrough(viewer)).toBeGreaterThan(20)
    },
    TIME_LIMIT,
  )

  test(
    'follow the channel, and copy its link',
    async () => {
      const follow = viewer.locator('.follow button')
      const before = await follow.textContent()
      await tabTo(viewer, follow)
      await viewer.keyboard.press('Enter')
      const after = before === 'Follow' ? 'Following' : 'Follow'
      await viewer.locator('.follow button', { hasText: new RegExp(`^${after}$`) }).waitFor()
      await tabTo(viewer, viewer.getByRole('button', { name: 'Share' }))
      await viewer.keyboard.press('Enter')
      await viewer.locator('#share:popover-open').waitFor()
      await look(viewer, 'channel-share')
      const { publicUrl } = server.strand.services
      const copied: string[] = []
      for (const field of ['link', 'moment']) {
        const group = viewer.locator(`.copied:has(#share-${field})`)
        await tabTo(viewer, group.getByRole('button', { name: 'Copy the link' }))
        await viewer.keyboard.press('Enter')
        await group.getByRole('button', { name: 'Copied the link' }).waitFor()
        copied.push(await clipboard(viewer))
      }
      expect(copied[0]).toBe(`${publicUrl}/${login}`)
      expect(copied[1]).toMatch(/\/videos\/\d+\?t=\d+s$/)
      await viewer.keyboard.press('Escape')
      await viewer.locator('#share:popover-open').waitFor({ state: 'detached' })
    },
    TIME_LIMIT,
  )

  test(
    'set markers: with the key m, and with a description; open the moment of one in the recording, while live',
    async () => {
      await broadcaster.evaluate('document.activeElement.blur()')
      await broadcaster.keyboard.press('m')
      await broadcaster.getByText('Marker added.').waitFor()
      await tabTo(broadcaster, broadcaster.locator('#marker-description'))
      await broadcaster.keyboard.type('the jump')
      await broadcaster.keyboard.press('Enter')
      await broadcaster.locator('.marks', { hasText: 'the jump' }).waitFor()
      await tabTo(broadcaster, broadcaster.locator('.marks a').first())
      await broadcaster.keyboard.press('Enter')
      await broadcaster.waitForURL(/\/videos\/\d+\?t=/)
      const { pathname, searchParams } = new URL(broadcaster.url())
      video_path = pathname
      await broadcaster.locator('[data-player=live][data-mode=recorded]').waitFor()
      // A busy machine takes minutes to come here.
      const [, minutes, seconds] = /(\d+)m(\d+)s$/.exec(searchParams.get('t') ?? '') ?? []
      expect(await broadcaster.locator('[data-part=seek]').getAttribute('value')).toBe(
        String(Number(minutes) * 60 + Number(seconds)),
      )
      await tabTo(broadcaster, broadcaster.getByRole('button', { name: 'Share' }))
      await broadcaster.keyboard.press('Enter')
      const copy = broadcaster.locator('#share').getByRole('button', { name: 'Copy the link' }).last()
      await tabTo(broadcaster, copy)
      await broadcaster.keyboard.press('Enter')
      await broadcaster.locator('#share').getByRole('button', { name: 'Copied the link' }).waitFor()
      expect(await clipboard(broadcaster)).toMatch(new RegExp(`${video_path}\\?t=\\d+s$`))
      await look(broadcaster, 'video-share')
    },
    TIME_LIMIT,
  )

  test(
    'every page of the studio, from its start to its end',
    async () => {
      for (const path of ['', '/videos', '/channel', '/editors']) {
        await broadcaster.goto(`${server.url}/studio/${login}${path}`)
        expect([path, (await tabThrough(broadcaster)) > 8]).toEqual([path, true])
      }
    },
    TIME_LIMIT,
  )

  test(
    'claim a drop',
    async () => {
      await deleteCampaignOfWorld(server)
      const { viewer: person } = server.world
      const benefit = await newBenefit(server, { name: 'Red kite' })
      const drop = { id: crypto.randomUUID(), name: 'Half an hour', required_minutes: 30 }
      const campaign = await publishedCampaign(server, { drops: [{ ...drop, benefit_ids: [benefit.id] }] })
      await server.control('POST', `/campaigns/${campaign.id}/viewers/${person.id}/minutes`, { add: 30 })
      await viewer.goto(server.url)
      await tabTo(viewer, viewer.locator('.bar nav a[href="/drops"]'))
      await viewer.keyboard.press('Enter')
      await viewer.waitForURL(`${server.url}/drops`)
      await tabTo(viewer, viewer.getByRole('button', { name: 'Claim Red kite' }))
      await viewer.keyboard.press('Enter')
      await viewer.getByText('You earned Red kite.').waitFor()
    },
    TIME_LIMIT,
  )

  for (const [name, areScriptsOff] of [
    ['without a script', true],
    ['on a network that loses scripts', false],
  ] as const)
    describe(name, () => {
      let page: Page
      beforeAll(async () => {
        const storageState = await viewer.context().storageState()
        page = await open({ storageState, javaScriptEnabled: !areScriptsOff })
        if (!areScriptsOff) await page.route(/\.js$/, route => route.abort())
      })

      const text = () => page.innerText('main')

      test('home: the live channels, filters and the search', async () => {
        await page.goto(server.url)
        expect(await page.locator('.card h3 a').count()).toBeGreaterThan(5)
        await page.fill('.search input', login)
        await page.keyboard.press('Enter')
        await page.waitForURL(/[?]q=/)
        expect(await text()).toContain(login)
      })

      test('channel: title, numbers, a field with the link, and the form to follow', async () => {
        await page.goto(`${server.url}/${login}`)
        for (const fact of [
          'Viewers',
          'Uptime',
          ...(areScriptsOff ? ['Watching here needs JavaScript'] : []),
        ])
          expect(await text()).toContain(fact)
        await page.getByRole('button', { name: 'Share' }).click()
        expect(await page.inputValue('#share-link')).toEndWith(`/${login}`)
        await page.keyboard.press('Escape')
        const before = await page.textContent('.follow button')
        await page.click('.follow button')
        await page
          .locator('.follow button', { hasText: before === 'Follow' ? /^Following$/ : /^Follow$/ })
          .waitFor()
      })

      test('video: its title, markers as links, and a field with the link to a moment', async () => {
        await page.goto(`${server.url}${video_path}?t=1s`)
        expect(await page.locator('.markers a').count()).toBe(2)
        await page.getByRole('button', { name: 'Share' }).click()
        expect(await page.inputValue('#share-moment')).toEndWith(`${video_path}?t=1s`)
        await page.keyboard.press('Escape')
        await page.locator('.markers a').first().click()
        await page.waitForURL(/[?]t=\d+h/)
      })
    })

  describe('without a script', () => {
    test('studio: the state, and forms that work on every page', async () => {
      const own = await open({
        storageState: await broadcaster.context().storageState(),
        javaScriptEnabled: false,
      })
      await own.goto(`${server.url}/studio`)
      expect(await own.innerText('main')).toMatch(/watching/i)
      await own.fill('#marker-description', 'by hand')
      await own.getByRole('button', { name: 'Add marker' }).click()
      await own.getByText('Marker added.').waitFor()
      await own.fill('#title', 'Plain forms')
      await own.getByRole('button', { name: 'Save' }).click()
      await own.getByText('Saved.').waitFor()
      for (const [tab, seen] of [
        ['Videos', 'Plain forms'],
        ['Channel', 'Stream key'],
        ['Editors', 'Add editor'],
      ] as const) {
        await own.getByRole('link', { name: tab, exact: true }).click()
        await own.locator('.tabs [aria-current=page]', { hasText: tab }).waitFor()
        expect(await own.innerText('main')).toContain(seen)
      }
      await own.fill('#editor-login', userWith(server.world.viewer.id).login)
      await own.getByRole('button', { name: 'Add editor' }).click()
      await own.getByText('Editor added.').waitFor()
      await own.context().close()
    })
  })

  test('nothing was wrong with any page', () => {
    expect(violations.flat()).toEqual([])
  })
})
