/**
 * A picture of every page, in both colour schemes and two widths, compared with the stored one, so that a layout that breaks
 * is seen by the page that it breaks on. The demo has a fixed seed and a clock that stands still, text is set in fonts that
 * are the same everywhere, and what plays or is drawn by scripts is hidden.
 *
 *   TEST_PICTURES=take npm run test:full -- test/site/pictures.full.ts     stores the pictures again
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { type Demo, serveDemo } from '../../src/server/serve-demo.ts'
import { PAGES } from '../../src/site/pages.ts'
import { blockFontSheet } from '../support/browser/block-font.ts'
import { hasBrowser, launchBrowser } from '../support/browser/browser.ts'
import { authorizeLink, CALLBACK } from '../support/browser/consent.ts'
import { PictureBook, takePicture } from '../support/browser/pictures.ts'
import { executeIn } from '../support/server.ts'
import { type PagePicture, PEOPLE, type PersonName, PICTURES, type Places } from './picture-list.ts'

const FOLDER = 'test/site/pictures'
const takes = process.env.TEST_PICTURES === 'take'
/** A folder to keep pictures in, to look at: of full size, with the fonts of this machine. Nothing is compared then. */
const kept = process.env.STRAND_PICTURES || undefined

const NOW = Date.parse('2026-03-01T19:30:00Z')
const WIDTHS = { desk: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } } as const
const SCHEMES = ['light', 'dark'] as const
const MAX_HEIGHT = 1600
/** Of 1, cumulative: browsers call up to 0.1 good. */
const MAX_SHIFT = 0.05
const MAX_BYTES = 2_000_000

/** One font for all text, drawn in another way: each letter is as wide as any other. */
const OTHER_FONTS = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>/usr/share/fonts</dir>
  <cachedir>{cache}</cachedir>
  <match target="pattern">
    <edit name="family" mode="assign" binding="strong"><string>DejaVu Sans Mono</string></edit>
  </match>
  <match target="font"><edit name="hinting" mode="assign"><bool>false</bool></edit></match>
</fontconfig>
`

/** Paths that answer with a file or with data for scripts. */
const MAX_TRIES = 3
const NO_PAGES = [
  '/studio/{login}/status',
  '/studio/{login}/markers/export',
  '/search/suggestions',
  '/site/broadcast',
  '/site/drops-channels',
]

/** What lists of the control API have of videos and streams. */
interface Listed {
  readonly id: string
  readonly user_id?: string
  readonly user_login?: string
  readonly game_id?: string
  readonly is_live?: boolean
  readonly marker_count?: number
  readonly reset_url?: string
}

const namesOf = ({ name }: PagePicture) =>
  Object.keys(WIDTHS).flatMap(width => SCHEMES.map(scheme => `${name}-${width}-${scheme}`))

test('every page has a picture, and every picture a page', () => {
  const pages = Object.entries(PAGES).flatMap(([path, { GET }]) => (GET === undefined ? [] : [path]))
  const shown = new Set(PICTURES.map(({ page }) => page))
  expect(pages.filter(path => !shown.has(path) && !NO_PAGES.includes(path))).toEqual([])
  const stored = readdirSync(FOLDER).sort()
  if (!takes)
    expect(stored).toEqual(
      PICTURES.flatMap(namesOf)
        .map(name => `${name}.webp`)
        .sort(),
    )
})

test('together the pictures are small', () => {
  const bytes = readdirSync(FOLDER).reduce((sum, file) => sum + statSync(join(FOLDER, file)).size, 0)
  expect(bytes).toBeLessThan(MAX_BYTES)
})

describe.skipIf(!hasBrowser)('pages look as their pictures do', () => {
  const folder = mkdtempSync(join(tmpdir(), 'strand-pictures-'))
  let demo: Demo
  let browser: Browser
  let book: PictureBook
  let places: Places
  const people = new Map<PersonName, Page>()

  beforeAll(async () => {
    demo = await serveDemo({
      port: 0,
      data: folder,
      seed: 42,
      streams: 40,
      movingViewers: false,
      clock: { at: NOW, running: false },
      settings: { STRAND_SIGN_UP: 'open', STRAND_LOG: 'error' },
    })
    browser = await launchBrowser()
    book = new PictureBook(FOLDER, await browser.newPage())
    places = await findPlaces(demo.world)
    await Promise.all(PEOPLE.map(async name => people.set(name, await arrive(name))))
  })
  afterAll(async () => {
    await browser?.close()
    await demo?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  for (const picture of PICTURES)
    test(picture.name, async () => {
      // On a busy machine a picture of the page may not have come in time: then it is opened again.
      let differing = await differences(picture)
      for (let tries = 1; tries < MAX_TRIES && differing.length > 0; tries++)
        differing = await differences(picture)
      expect(differing).toEqual([])
    })

  async function differences(picture: PagePicture): Promise<string[]> {
    const page = pageOf(picture)
    const differing: string[] = []
    for (const [width, viewport] of Object.entries(WIDTHS)) {
      await page.setViewportSize(viewport)
      await open(page, picture)
      for (const colorScheme of SCHEMES) {
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
        const name = `${picture.name}-${width}-${colorScheme}`
        const height = await heightOf(page, viewport.height)
        if (kept !== undefined) {
          const clip = { x: 0, y: 0, width: viewport.width, height }
          await page.screenshot({ path: join(kept, `${name}.png`), fullPage: true, clip })
          continue
        }
        const png = await takePicture(page, viewport.width, height)
        if (takes) await book.store(name, png)
        const difference = await book.explain(name, png)
        if (difference !== undefined) differing.push(difference)
      }
    }
    return differing
  }

  test.skipIf(kept !== undefined)('rules that reach another page are seen', async () => {
    // The two that did.
    const menu =
      '.menu ul{position:absolute;right:0;top:calc(100% + 6px);max-height:320px;overflow-y:auto;background:var(--raised)}'
    const filters =
      '@media(max-width:760px){.filters{width:calc(100% + 32px)!important;margin-inline:-16px!important;padding-right:16px}}'
    expect(await isSame('docs', 'desk', { sheet: menu })).toBe(false)
    expect(await isSame('console-audit', 'phone', { sheet: filters })).toBe(false)
    // What has a little more space, or another colour.
    expect(await isSame('log-in', 'desk', { sheet: '.panel{padding:48px!important}' })).toBe(false)
    expect(await isSame('account', 'phone', { sheet: '.panel{background:var(--accent)}' })).toBe(false)
    expect(await isSame('account', 'phone', {})).toBe(true)
  })

  test.skipIf(kept !== undefined)('pictures are the same where the fonts are others', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'strand-fonts-'))
    writeFileSync(join(folder, 'fonts.conf'), OTHER_FONTS.replace('{cache}', folder))
    const other = await launchBrowser({ FONTCONFIG_FILE: join(folder, 'fonts.conf') })
    try {
      for (const name of ['docs', 'home', 'log-in', 'console-streams'])
        expect([name, await isSame(name, 'phone', { inBrowser: other })]).toEqual([name, true])
    } finally {
      await other.close()
      rmSync(folder, { recursive: true })
    }
  })

  /** Whether a page still looks as its picture does: with more rules on every page, or in another browser. */
  async function isSame(
    name: string,
    width: keyof typeof WIDTHS,
    { sheet = '', inBrowser }: { sheet?: string; inBrowser?: Browser },
  ): Promise<boolean> {
    const picture = PICTURES.find(each => each.name === name)
    if (picture === undefined) throw new Error(`there is no picture ${name}`)
    const viewport = WIDTHS[width]
    const storageState = await pageOf(picture).context().storageState()
    const context = await newContext({ viewport, storageState, colorScheme: 'light' }, inBrowser)
    await useBlockFont(context, sheet)
    const page = await context.newPage()
    await open(page, picture)
    const png = await takePicture(page, viewport.width, await heightOf(page, viewport.height))
    await context.close()
    return book.isSame(`${name}-${width}-light`, png)
  }

  test('nothing moves while a page loads, on a phone, though its scripts come after it was painted', async () => {
    const moving: [name: string, shift: number][] = []
    for (const picture of new Map(PICTURES.toReversed().map(each => [each.page, each])).values()) {
      const storageState = await pageOf(picture).context().storageState()
      const context = await browser.newContext({ viewport: WIDTHS.phone, bypassCSP: true, storageState })
      moving.push([picture.name, await layoutShift(await context.newPage(), picture)])
      await context.close()
    }
    expect(moving.filter(([, shift]) => shift > MAX_SHIFT)).toEqual([])
  })

  function pageOf({ as = 'visitor' }: PagePicture): Page {
    const page = people.get(as)
    if (page === undefined) throw new Error(`the ${as} has no page`)
    return page
  }

  /** The cumulative layout shift of a page, as browsers report it, until its scripts have run. */
  async function layoutShift(page: Page, { path, waitFor }: PagePicture): Promise<number> {
    await page.addInitScript(`globalThis.shift = 0
      new PerformanceObserver(list => {
        for (const entry of list.getEntries()) globalThis.shift += entry.value
      }).observe({ type: 'layout-shift', buffered: true })`)
    await page.route(/\/assets\/.*\.js$/, async route => {
      await page.waitForFunction('performance.getEntriesByName("first-contentful-paint").length > 0')
      await route.continue()
    })
    await page.goto(demo.world.base_url + path(places), { waitUntil: 'load' })
    if (waitFor !== undefined) await page.locator(waitFor).first().waitFor({ state: 'attached' })
    // Some frames later, what scripts did was painted and reported.
    const shift = await page.evaluate<number>(`new Promise(resolve => {
      const later = (frames, act) => requestAnimationFrame(() => frames === 0 ? act() : later(frames - 1, act))
      later(3, () => setTimeout(() => resolve(globalThis.shift), 0))
    })`)
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    return shift
  }

  async function open(page: Page, { path, hidden, without, waitFor, press }: PagePicture): Promise<void> {
    await page.goto(demo.world.base_url + path(places), { waitUntil: 'load' })
    if (waitFor !== undefined) await page.locator(waitFor).first().waitFor({ state: 'attached' })
    if (without !== undefined)
      await page.evaluate(`for (const element of document.querySelectorAll('${without}')) element.remove()`)
    await page.evaluate(`document.fonts.ready.then(() => Promise.all([...document.images].map(image => {
      image.loading = 'eager'
      return image.decode().catch(() => undefined)
    })))`)
    if (press !== undefined) await page.keyboard.press(press)
    if (hidden !== undefined) await page.addStyleTag({ content: `${hidden}{visibility:hidden}` })
  }

  async function newContext(options: BrowserContextOptions = {}, from = browser): Promise<BrowserContext> {
    const context = await from.newContext({
      bypassCSP: true,
      reducedMotion: 'reduce',
      timezoneId: 'UTC',
      ...options,
    })
    await context.clock.setFixedTime(NOW)
    return context
  }

  /** A browser of this person, logged in. */
  async function arrive(name: PersonName): Promise<Page> {
    const context = await newContext()
    if (kept === undefined) await useBlockFont(context)
    const page = await context.newPage()
    const { world } = demo
    if (name === 'visitor') return page
    if (name === 'operator') {
      await page.goto(`${world.base_url}/console`)
      await page.fill('#password', world.operator_token)
      await Promise.all([page.waitForSelector('.console'), page.keyboard.press('Enter')])
      return page
    }
    const { login, password } = world.users.find(({ id }) => id === world[name].id) ?? {
      login: '',
      password: '',
    }
    await page.goto(`${world.base_url}/login`)
    await page.fill('#login', login)
    await page.fill('#password', password)
    await Promise.all([page.waitForURL(/account/), page.keyboard.press('Enter')])
    return page
  }

  const execute = (statement: string) => executeIn({ folder, databaseUrl: undefined }, statement)

  async function findPlaces(world: Demo['world']): Promise<Places> {
    const call = async (method: string, path: string, body?: object) => {
      const response = await fetch(world.base_url + path, {
        method,
        headers: { Authorization: `Bearer ${world.operator_token}`, 'Content-Type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      })
      if (!response.ok) throw new Error(`${method} ${path}: ${await response.text()}`)
      return ((await response.json()) as { data: Listed[] }).data
    }
    const loginOf = (id: string) => world.users.find(each => each.id === id)?.login ?? ''
    const { client } = world
    await call('PATCH', `/control/clients/${client.id}`, { redirect_uris: [CALLBACK] })
    const [video] = await call('GET', `/control/videos?user_id=${world.broadcaster.id}&first=1`)
    const [recorded] = (await call('GET', '/control/videos?first=100')).filter(
      each => !each.is_live && Number(each.marker_count) > 5,
    )
    await execute(`update videos set recording_url = '' where id = '${recorded?.id}'`)
    const [waiting] = (await call('GET', '/control/streams?first=20')).slice(-1)
    const at = new Date(NOW).toISOString()
    await execute(
      `insert into publish_sessions (adapter, server, session, user_id, stream_id, started_at, alive_at, ended_at, published_as)
       values ('embedded', 'local', '1', '${waiting?.user_id}', '${waiting?.id}', '${at}', '${at}', '${at}', '')`,
    )
    const day = (days: number) => `${new Date(NOW - days * 86_400_000).toISOString().slice(0, 19)}Z`
    await execute(
      `insert into videos (id, user_id, stream_id, created_at, ended_at, title, language, game_id)
       values ('77', '${world.editor.id}', '78', '${day(1.25)}', '${day(1)}', 'Slow morning on the reef', 'en', '')`,
    )
    const { campaign, channel: dropsChannel } = await makeCampaigns(call, world)
    const device = await fetch(`${world.base_url}/oauth2/device`, {
      method: 'POST',
      body: new URLSearchParams({ client_id: client.id, scopes: 'user:read:follows' }),
    })
    expect(device.status).toBe(200)
    const { user_code } = (await device.json()) as { user_code: string }
    const [reset] = await call('POST', `/control/users/${world.viewer.id}/password-reset`)
    return {
      live: world.broadcaster.login,
      offline: loginOf(world.offline.id),
      video: video?.id ?? '',
      ended: loginOf(world.editor.id),
      waiting: waiting?.user_login ?? '',
      recorded: recorded?.id ?? '',
      game: world.game.id,
      user: world.viewer.id,
      deviceCode: user_code,
      authorize: authorizeLink(client.id),
      newPassword: reset?.reset_url?.replace(/^https?:\/\/[^/]+/, '') ?? '',
      dropsChannel,
      campaign,
    }
  }
})

type Call = (method: string, path: string, body?: object) => Promise<Listed[]>

/** Two campaigns that run and one that comes. The viewer has claimed one drop, can claim another, and watches for a third. */
async function makeCampaigns(call: Call, world: Demo['world']) {
  const id = (number: number) => `0b6f5a1e-6f0a-4f38-8f9f-${String(number).padStart(12, '0')}`
  const hours = (count: number) => new Date(NOW + count * 3_600_000).toISOString()
  const organization_id = world.organization.id
  const names = ['Red kite', 'Storm kite', 'Golden spool']
  for (const [at, name] of names.entries())
    await call('PUT', `/control/benefits/${id(at)}`, { name, organization_id })
  const streams = await call('GET', '/control/streams?first=20')
  const [first, second] = [...new Map(streams.map(each => [each.game_id, each])).values()].filter(
    each => each.game_id,
  )
  const campaigns = [
    { number: 10, name: 'Kite week', game_id: first?.game_id, from: -30, to: 75, minutes: [30, 60, 120] },
    { number: 20, name: 'Harbour lights', game_id: second?.game_id, from: -3, to: 20, minutes: [45] },
    { number: 30, name: 'Autumn winds', game_id: first?.game_id, from: 100, to: 200, minutes: [60, 120] },
  ]
  for (const { number, name, game_id, from, to, minutes } of campaigns) {
    await call('PUT', `/control/campaigns/${id(number)}`, {
      name,
      organization_id,
      game_id,
      starts_at: hours(from),
      ends_at: hours(to),
      link_client_id: world.client.id,
      link_url: 'https://studio.example/link',
      drops: minutes.map((required_minutes, at) => ({
        id: id(number + at + 1),
        name: ['First wind', 'Steady breeze', 'Full storm'][at],
        required_minutes,
        benefit_ids: [id(at)],
      })),
    })
    await call('POST', `/control/campaigns/${id(number)}/publish`)
  }
  const [token] = (await call('POST', '/control/tokens', {
    client_id: world.client.id,
    user_id: world.viewer.id,
    scopes: ['user:manage:drops'],
  })) as unknown as { access_token: string }[]
  await call('POST', `/control/campaigns/${id(10)}/viewers/${world.viewer.id}/minutes`, { add: 72 })
  const claimed = await fetch(`${world.base_url}/drops/claims`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${token?.access_token}`,
      'Client-Id': world.client.id,
      'Content-Type': 'application/json',
    },
    body: JSON.stringify({ drop_id: id(11) }),
  })
  expect(claimed.status).toBe(200)
  return { campaign: id(10), channel: first?.user_login ?? '' }
}

/** Videos play, and charts show how fast this machine is. Cards below the screen are drawn as well. */
const HIDDEN =
  'video,canvas{visibility:hidden!important}.card{content-visibility:visible!important}*{caret-color:transparent!important}'

async function useBlockFont(context: BrowserContext, more = ''): Promise<void> {
  const sheet = blockFontSheet() + HIDDEN + more
  await context.route(/\/assets\/site-[^/]*\.css$/, async route => {
    const response = await route.fetch()
    await route.fulfill({ response, body: (await response.text()) + sheet })
  })
}

async function heightOf(page: Page, atLeast: number): Promise<number> {
  const height = await page.evaluate<number>('document.documentElement.scrollHeight')
  return Math.min(MAX_HEIGHT, Math.max(atLeast, height))
}
