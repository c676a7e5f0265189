/**
 * What a newcomer does: clone, `npm install`, `npm start`, open the page, click on a channel, click on a video. All of it plays
 * in a real browser, on a desk and on a phone, for a second visitor too, and without ffmpeg on the path.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { copyCheckout } from '../../build/copied-checkout.ts'
import { hasBrowser, launchBrowser } from '../support/browser/browser.ts'
import { DESK, PHONE } from '../support/browser/look.ts'
import { openWatched, type WatchedPage } from '../support/browser/watched-page.ts'
import { endAllProcesses, StrandProcess } from '../support/cli/strand-process.ts'
import { until } from '../support/media/live-strand.ts'

const INSTALL_MILLISECONDS = 600_000
/** Of the first page of channels: the top, the middle and the end. The first card is a channel that keeps no videos. */
const SAMPLE = [1, 7, 15, 23]

const folder = mkdtempSync(join(tmpdir(), 'strand-clone-'))
let url = ''

describe.skipIf(!hasBrowser)('a fresh clone in a real browser', () => {
  let browser: Browser
  let environment: Record<string, string>
  const watched: WatchedPage[] = []

  beforeAll(async () => {
    environment = { PATH: linkPrograms('node', 'npm', 'sh') }
    expect(Bun.which('ffmpeg', environment)).toBeNull()
    const clone = join(folder, 'clone')
    copyCheckout(clone)
    const install = Bun.spawn(['npm', 'install', '--no-audit', '--no-fund'], {
      cwd: clone,
      env: { ...process.env, ...environment },
      stdout: 'ignore',
      stderr: 'pipe',
    })
    expect([await install.exited, await install.stderr.text()]).toEqual([0, expect.any(String)])
    const words = ['start', '--silent', '--', '--port', '0', '--no-rtmp', '--json']
    const demo = new StrandProcess(words, { command: ['npm'], cwd: clone, environment })
    url = JSON.parse(await demo.until(({ stdout }) => stdout.endsWith('\n') && stdout)).base_url
    browser = await launchBrowser()
  }, INSTALL_MILLISECONDS)
  afterAll(async () => {
    await browser?.close()
    await endAllProcesses()
    rmSync(folder, { recursive: true, force: true })
  })

  /** A folder with links to these programs and to no other. */
  function linkPrograms(...names: readonly string[]): string {
    const programs = join(folder, 'programs')
    mkdirSync(programs)
    for (const name of names) symlinkSync(realpathSync(Bun.which(name) ?? name), join(programs, name))
    return programs
  }

  async function openPage(options: BrowserContextOptions): Promise<Page> {
    const visitor = await openWatched(browser, url, undefined, options)
    watched.push(visitor)
    return visitor.page
  }

  const shown = (page: Page) =>
    page.evaluate<{ time: number; frames: number; width: number }>(`(() => {
      const video = document.querySelector('video')
      const { totalVideoFrames } = video?.getVideoPlaybackQuality() ?? {}
      return { time: video?.currentTime ?? 0, frames: totalVideoFrames ?? 0, width: video?.videoWidth ?? 0 }
    })()`)

  async function expectPlaying(page: Page): Promise<void> {
    const before = await until(
      () => shown(page),
      ({ frames }) => frames > 0,
    )
    const after = await until(
      () => shown(page),
      ({ time, frames }) => time > before.time + 1 && frames > before.frames + 5,
    )
    expect(after.width).toBe(640)
  }

  const viewers = async (page: Page) =>
    Number(
      /^Viewers([0-9,]+)/.exec((await page.textContent('.masthead .facts')) ?? '')?.[1]?.replaceAll(',', ''),
    )

  /** Opens the home page, a channel of it, and a video of that channel. Returns the path of the channel. */
  async function wander(page: Page, at: number): Promise<string> {
    await page.goto(`${url}/`)
    await page.locator('.grid .card h3 a').nth(at).click()
    await page.waitForURL(address => /^\/[a-z0-9_]+$/.test(address.pathname))
    const { pathname } = new URL(page.url())
    await expectPlaying(page)
    expect(await viewers(page)).toBeGreaterThan(0)
    // Its video runs with it, and is listed when the broadcast has ended.
    const [video] = /\/videos\/[0-9]+(?=\.m3u8)/.exec(await page.content()) ?? []
    await page.goto(url + video)
    await page.locator('[data-part=start]').click()
    await expectPlaying(page)
    return pathname
  }

  test('the home page plays a channel, which has a video of yesterday', async () => {
    const page = await openPage({ viewport: DESK })
    await page.goto(`${url}/`)
    await expectPlaying(page)
    await page.locator('.featured .button').click()
    await page.waitForURL(address => address.pathname !== '/')
    await expectPlaying(page)
    await page.locator('.videos .card h3 a').last().click()
    await page.waitForURL(/\/videos\/[0-9]+$/)
    await page.locator('[data-part=start]').click()
    await expectPlaying(page)
    expect(await page.textContent('.masthead .facts')).not.toContain('so far')
  })

  test('channels and their videos play', async () => {
    const page = await openPage({ viewport: DESK })
    const seen = new Set<string>()
    for (const at of SAMPLE) seen.add(await wander(page, at))
    expect(seen.size).toBe(SAMPLE.length)
  }, 300_000)

  test('they play on a phone', async () => {
    const page = await openPage({ viewport: PHONE, isMobile: true, hasTouch: true })
    for (const at of SAMPLE.slice(0, 2)) await wander(page, at)
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0)
  }, 300_000)

  test('a second visitor sees the same, and neither of them changes the viewers of the demo', async () => {
    const [{ user_login, viewer_count }] = (await (await fetch(`${url}/helix/streams?first=1`)).json()).data
    const pages = [await openPage({ viewport: DESK }), await openPage({ viewport: DESK })]
    const heartbeats: string[] = []
    for (const page of pages) {
      page.on('request', request => {
        if (request.url().includes('/playback/heartbeat')) heartbeats.push(request.url())
      })
      await page.goto(`${url}/${user_login}`)
    }
    for (const page of pages) {
      await expectPlaying(page)
      // They move by 5 % every five seconds; one viewer who is counted would replace 20,000.
      expect(await viewers(page)).toBeWithin(viewer_count / 2, viewer_count * 2)
    }
    expect(heartbeats).toEqual([])
  }, 180_000)

  test('no error in the console, no violated policy, no other host', () => {
    expect(watched.flatMap(({ violations }) => violations)).toEqual([])
    expect(watched).toHaveLength(5)
  })
})
