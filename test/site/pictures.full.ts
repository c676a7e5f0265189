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
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { PAGES } from '../../src/site/pages.ts'
import { blockFontSheet } from '../support/browser/block-font.ts'
import { hasBrowser, launchBrowser } from '../support/browser/browser.ts'
import { PictureBook, takePicture } from '../support/browser/pictures.ts'
import { arrive, newContext, openPicture, type PictureDemo, startPictureDemo } from './picture-demo.ts'
import { type PagePicture, PEOPLE, type PersonName, PICTURES } from './picture-list.ts'

const FOLDER = 'test/site/pictures'
const takes = process.env.TEST_PICTURES === 'take'
/** A folder to keep pictures in, to look at: of full size, with the fonts of this machine. Nothing is compared then. */
const kept = process.env.STRAND_PICTURES || undefined

const WIDTHS = { desk: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } } as const
const SCHEMES = ['light', 'dark'] as const
const MAX_HEIGHT = 1600
/** Of 1, cumulative: browsers call up to 0.1 good. */
const MAX_SHIFT = 0.05
/** The letters of the typeface and of those before it are not all of the same width: some lines break elsewhere. */
const MAX_FONT_SHIFT = 0.01
const PAGES_OF_TEXT = ['docs', 'home', 'drops', 'account', 'channel-offline', 'sign-up', 'studio-channel']
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

/** The fonts of a small Debian: letters are a tenth wider than those of Arial. */
const FEW_FONTS = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>/usr/share/fonts/truetype/dejavu</dir>
  <cachedir>{cache}</cachedir>
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
  let demo: PictureDemo
  let browser: Browser
  let book: PictureBook
  const people = new Map<PersonName, Page>()

  beforeAll(async () => {
    demo = await startPictureDemo()
    browser = await launchBrowser()
    book = new PictureBook(FOLDER, await browser.newPage())
    await Promise.all(PEOPLE.map(async name => people.set(name, await newPerson(name))))
  })
  afterAll(async () => {
    await browser?.close()
    await demo?.stop()
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
    const context = await newContext(inBrowser ?? browser, { viewport, storageState, colorScheme: 'light' })
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
      moving.push([picture.name, await layoutShift(await context.newPage(), picture, /\/assets\/.*\.js$/)])
      await context.close()
    }
    expect(moving.filter(([, shift]) => shift > MAX_SHIFT)).toEqual([])
  })

  test('hardly anything moves on a phone when the font comes after the page was painted, whatever fonts there are', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'strand-fonts-'))
    writeFileSync(join(folder, 'fonts.conf'), FEW_FONTS.replace('{cache}', folder))
    const withFewFonts = await launchBrowser({ FONTCONFIG_FILE: join(folder, 'fonts.conf') })
    const moving: [name: string, shift: number][] = []
    try {
      for (const inBrowser of [browser, withFewFonts])
        for (const picture of PICTURES.filter(({ name }) => PAGES_OF_TEXT.includes(name))) {
          const storageState = await pageOf(picture).context().storageState()
          const context = await inBrowser.newContext({
            viewport: WIDTHS.phone,
            bypassCSP: true,
            storageState,
          })
          const page = await context.newPage()
          moving.push([picture.name, await layoutShift(page, picture, /\/assets\/.*\.woff2$/)])
          // It did come.
          expect(await page.evaluate(`document.fonts.check('16px "Instrument Sans"')`)).toBe(true)
          await context.close()
        }
    } finally {
      await withFewFonts.close()
      rmSync(folder, { recursive: true })
    }
    expect(moving).toHaveLength(2 * PAGES_OF_TEXT.length)
    expect(moving.filter(([, shift]) => shift > MAX_FONT_SHIFT)).toEqual([])
  })

  function pageOf({ as = 'visitor' }: PagePicture): Page {
    const page = people.get(as)
    if (page === undefined) throw new Error(`the ${as} has no page`)
    return page
  }

  /** The cumulative layout shift of a page, as browsers report it, if some of its files come after it was painted. */
  async function layoutShift(page: Page, { path, waitFor }: PagePicture, late: RegExp): Promise<number> {
    await page.addInitScript(`globalThis.shift = 0
      new PerformanceObserver(list => {
        for (const entry of list.getEntries()) globalThis.shift += entry.value
      }).observe({ type: 'layout-shift', buffered: true })`)
    await page.route(late, async route => {
      await page.waitForFunction('performance.getEntriesByName("first-contentful-paint").length > 0')
      await route.continue()
    })
    await page.goto(demo.world.base_url + path(demo.places), { waitUntil: 'load' })
    if (waitFor !== undefined) await page.locator(waitFor).first().waitFor({ state: 'attached' })
    await page.evaluate(`document.fonts.load('16px "Instrument Sans"').then(() => undefined)`)
    // Some frames later, what scripts did was painted and reported.
    const shift = await page.evaluate<number>(`new Promise(resolve => {
      const later = (frames, act) => requestAnimationFrame(() => frames === 0 ? act() : later(frames - 1, act))
      later(3, () => setTimeout(() => resolve(globalThis.shift), 0))
    })`)
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    return shift
  }

  const open = (page: Page, picture: PagePicture) => openPicture(page, picture, demo)

  /** A browser of this person, logged in. */
  async function newPerson(name: PersonName): Promise<Page> {
    const context = await newContext(browser)
    if (kept === undefined) await useBlockFont(context)
    const page = await context.newPage()
    await arrive(page, name, demo.world)
    return page
  }
})

/** Videos play, and charts show how fast this machine is. Cards below the screen are drawn as well. */
const HIDDEN =
  'video,canvas{visibility:hidden!important}.card{content-visibility:visible!important}*{caret-color:transparent!important}'

async function useBlockFont(context: BrowserContext, more = ''): Promise<void> {
  const sheet = blockFontSheet() + HIDDEN + more
  await context.route(/\/assets\/site-[^/]*\.css$/, async route => {
    // The server closes an idle connection, perhaps while this is on its way.
    const response = await route.fetch({ maxRetries: 2 })
    await route.fulfill({ response, body: (await response.text()) + sheet })
  })
}

async function heightOf(page: Page, atLeast: number): Promise<number> {
  const height = await page.evaluate<number>('document.documentElement.scrollHeight')
  return Math.min(MAX_HEIGHT, Math.max(atLeast, height))
}
