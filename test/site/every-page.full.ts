/**
 * Every page of the list of pictures, under conditions that pictures do not have: names of 50 characters in several scripts,
 * no script, a slow network. Nothing leaves the screen, axe finds nothing in either theme, and no page loads more script and
 * style than its budget. One demo and one browser serve all of it.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser, Page } from 'playwright-core'
import { assertDefined } from '../../src/kit/assert-defined.ts'
import { findAsset } from '../../src/site/build/assets.ts'
import { hasBrowser, launchBrowser } from '../support/browser/browser.ts'
import { DESK, PHONE, violationsOn } from '../support/browser/look.ts'
import { arrive, newContext, openPicture, type PictureDemo, startPictureDemo } from './picture-demo.ts'
import { type PagePicture, PEOPLE, type PersonName, PICTURES } from './picture-list.ts'

/** 50 characters each: without a place to break, wide, from right to left, and of two code units. */
const NAMES = ['Wm'.repeat(25), '海の道'.repeat(17).slice(0, 50), 'مرحبا'.repeat(10), '🎮🌊'.repeat(25)]
/** Of letters only, as tags are. */
const TAGS = NAMES.slice(0, 3).map(name => name.slice(0, 25))
/** A network of 50 kB/s, where an answer takes 400 ms. */
const SLOW = { offline: false, latency: 400, downloadThroughput: 50_000, uploadThroughput: 50_000 }
/** Of 1, cumulative: browsers call up to 0.1 good. */
const MAX_SHIFT = 0.05
/** Compressed bytes that a page asks for at once. What plays or draws charts comes on demand: see assets.test.ts. */
const MAX_BYTES = { js: 40_000, css: 12_000 }
const TIME_LIMIT = 300_000

/** What was measured, for those who read the output. */
const note = (line: string) => process.stdout.write(`[every page] ${line}\n`)

/** Lines of text that leave the block they are in, or the screen. What is cut off or scrolled on purpose is not looked at. */
const ESCAPING = `(() => {
  const escaping = []
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  const range = document.createRange()
  const style = element => getComputedStyle(element)
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const parent = node.parentElement
    if (!node.data.trim() || !parent.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue
    let isCut = false
    for (let each = parent; each; each = each.parentElement) isCut ||= style(each).overflowX !== 'visible' && each !== document.documentElement && each !== document.body
    if (isCut) continue
    let block = parent
    while (style(block).display.startsWith('inline') || style(block).display === 'contents') block = block.parentElement
    const box = block.getBoundingClientRect()
    if (box.width <= 1) continue
    range.selectNodeContents(node)
    const { left, right } = range.getBoundingClientRect()
    if (left < box.left - 1 || right > box.right + 1)
      escaping.push(block.tagName.toLowerCase() + (block.className && '.' + block.className) + ': ' + node.data.slice(0, 20))
  }
  return [...new Set(escaping)].slice(0, 3)
})()`

/** What is missing for reading the page and sending its forms; a list of sentences. */
const UNUSABLE = `(() => {
  const isSeen = element => element.checkVisibility({ visibilityProperty: true })
  const found = []
  if (!document.querySelector('h1')?.innerText.trim()) found.push('no heading')
  if (document.querySelector('main').innerText.length < 20) found.push('no text')
  for (const form of document.querySelectorAll('main form'))
    if (isSeen(form) && ![...form.querySelectorAll('button, input[type=submit]')].some(isSeen))
      found.push('no button to send the form to ' + form.getAttribute('action'))
  if ([...document.querySelectorAll('.skeleton')].some(isSeen)) found.push('a skeleton')
  return found
})()`

describe.skipIf(!hasBrowser)('every page', () => {
  let demo: PictureDemo
  let browser: Browser
  const people = new Map<PersonName, Page>()
  /** Each person opens their pages one after the other, all at the same time, with their page or one like it. */
  const openAll = (
    pageFor: (page: Page) => Page | Promise<Page>,
    look: (picture: PagePicture, page: Page) => Promise<void>,
  ) =>
    Promise.all(
      PEOPLE.map(async name => {
        const page = await pageFor(assertDefined(people.get(name), `a page of the ${name}`))
        for (const picture of PICTURES) if ((picture.as ?? 'visitor') === name) await look(picture, page)
      }),
    )

  beforeAll(async () => {
    demo = await startPictureDemo()
    browser = await launchBrowser()
    await Promise.all(
      PEOPLE.map(async name => {
        const page = await (await newContext(browser, { viewport: PHONE })).newPage()
        await arrive(page, name, demo.world)
        people.set(name, page)
      }),
    )
  })
  afterAll(async () => {
    await browser?.close()
    await demo?.stop()
  })

  for (const name of ['home', 'channel-live', 'docs'])
    test(
      `on a slow network ${name} is read before its scripts have come, and does not move then`,
      async () => {
        const picture = assertDefined(
          PICTURES.find(each => each.name === name),
          'the page',
        )
        // Not with the clock of the demo: times are measured.
        const context = await browser.newContext({
          viewport: PHONE,
          reducedMotion: 'reduce',
          bypassCSP: true,
        })
        const page = await context.newPage()
        const devtools = await context.newCDPSession(page)
        await devtools.send('Network.enable')
        await devtools.send('Network.emulateNetworkConditions', SLOW)
        await page.addInitScript(`globalThis.shift = 0
          new PerformanceObserver(list => {
            for (const { value } of list.getEntries()) globalThis.shift += value
          }).observe({ type: 'layout-shift', buffered: true })`)
        const isPainted = `performance.getEntriesByName('first-contentful-paint').length > 0`
        await page.route(/\/assets\/.*\.js$/, async route => {
          await page.waitForFunction(isPainted)
          await route.continue()
        })
        await page.goto(demo.world.base_url + picture.path(demo.places), { waitUntil: 'load' })
        await page.evaluate('document.fonts.ready.then(() => undefined)')
        const { painted, script, shift } = await page.evaluate<
          Record<'painted' | 'script' | 'shift', number>
        >(`new Promise(resolve => {
          const later = (frames, act) => requestAnimationFrame(() => frames === 0 ? act() : later(frames - 1, act))
          later(3, () => setTimeout(() => resolve({
            painted: performance.getEntriesByName('first-contentful-paint')[0].startTime,
            script: Math.min(...performance.getEntriesByType('resource')
              .filter(({ name }) => name.endsWith('.js')).map(({ responseEnd }) => responseEnd)),
            shift: globalThis.shift,
          }), 0))
        })`)
        note(
          `${name} on a slow network: text after ${Math.round(painted)} ms, the first script after ${Math.round(script)} ms, shift ${shift.toFixed(4)}`,
        )
        expect(painted).toBeLessThan(script)
        expect(shift).toBeLessThan(MAX_SHIFT)
        await page.unrouteAll({ behavior: 'ignoreErrors' })
        await context.close()
      },
      TIME_LIMIT,
    )

  test(
    'with names of 50 characters in four scripts: within the screen, accessible in both themes, and within the budgets',
    async () => {
      await renameEverything(demo)
      const began = performance.now()
      const faults: unknown[] = []
      const largest = { js: 0, css: 0 }
      await openAll(
        seen => seen,
        async (picture, page) => {
          await page.setViewportSize(PHONE)
          await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' })
          await openPicture(page, picture, demo)
          const bytes = await bytesAtOnce(page)
          for (const kind of ['js', 'css'] as const) {
            largest[kind] = Math.max(largest[kind], bytes[kind])
            if (!(bytes[kind] <= MAX_BYTES[kind])) faults.push([picture.name, kind, bytes[kind]])
          }
          for (const colorScheme of ['light', 'dark'] as const) {
            await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
            for (const violation of await violationsOn(page, colorScheme))
              faults.push([picture.name, colorScheme, ...violation])
          }
          for (const viewport of [PHONE, DESK]) {
            await page.setViewportSize(viewport)
            const width = await page.evaluate<number>('document.documentElement.scrollWidth')
            if (width > viewport.width) faults.push([picture.name, viewport.width, `${width} wide`])
            for (const text of await page.evaluate<string[]>(ESCAPING))
              faults.push([picture.name, viewport.width, text])
          }
        },
      )
      note(`${PICTURES.length} pages in ${Math.round((performance.now() - began) / 1000)} s`)
      note(`at most ${largest.js} bytes of script and ${largest.css} of style`)
      expect(faults).toEqual([])
    },
    TIME_LIMIT,
  )

  test(
    'without a script: the heading, the text and the forms are there',
    async () => {
      const began = performance.now()
      const faults: unknown[] = []
      const withoutScript = async (seen: Page) => {
        const storageState = await seen.context().storageState()
        const options = { viewport: DESK, storageState, javaScriptEnabled: false }
        return (await browser.newContext(options)).newPage()
      }
      await openAll(withoutScript, async (picture, page) => {
        await page.goto(demo.world.base_url + picture.path(demo.places), { waitUntil: 'domcontentloaded' })
        for (const fault of await page.evaluate<string[]>(UNUSABLE)) faults.push([picture.name, fault])
      })
      note(`without a script in ${Math.round((performance.now() - began) / 1000)} s`)
      expect(faults).toEqual([])
    },
    TIME_LIMIT,
  )
})

/** The scripts and style sheets that a page asks for at once. */
const ASKED = `[...document.querySelectorAll('link[rel=stylesheet], link[rel=modulepreload], script[src]')]
  .map(each => new URL(each.href || each.src).pathname)`

/** Their compressed bytes. */
async function bytesAtOnce(page: Page): Promise<Readonly<Record<keyof typeof MAX_BYTES, number>>> {
  const bytes = { js: 0, css: 0 }
  for (const path of await page.evaluate<string[]>(ASKED))
    bytes[path.endsWith('.css') ? 'css' : 'js'] += (await findAsset(path))?.gzipped.length ?? Number.NaN
  return bytes
}

/** Gives users, titles, games and what belongs to drops such names. */
async function renameEverything({ call }: PictureDemo): Promise<void> {
  let count = 0
  const next = () => NAMES[count++ % NAMES.length] ?? ''
  const changeAll = async (method: string, path: string, change: () => object) => {
    for (const { id } of await call('GET', `/control/${path}?first=100`))
      await call(method, `/control/${path}/${id}`, change())
  }
  await changeAll('PUT', 'users', () => ({ display_name: next() }))
  await changeAll('PATCH', 'clients', () => ({ name: next() }))
  for (const path of ['organizations', 'games', 'benefits'])
    await changeAll('PUT', path, () => ({ name: next() }))
  for (const { user_id } of await call('GET', '/control/streams?first=100'))
    await call('PATCH', `/control/channels/${user_id}`, {
      title: next() + next(),
      tags: TAGS,
    })
  for (const { id, is_live } of await call('GET', '/control/videos?first=100'))
    if (!is_live) await call('PATCH', `/control/videos/${id}`, { title: next() + next() })
}
