/** Times on pages are relative. The exact one, in the time zone of the browser, appears under the pointer. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { type Demo, serveDemo } from '../../src/server/serve-demo.ts'
import { hasBrowser, launchBrowser } from '../support/browser/browser.ts'

describe.skipIf(!hasBrowser)('times in a browser', () => {
  const folder = mkdtempSync(join(tmpdir(), 'strand-times-'))
  let demo: Demo
  let browser: Browser
  beforeAll(async () => {
    const settings = { STRAND_LOG: 'error' }
    demo = await serveDemo({ port: 0, data: folder, seed: 42, streams: 4, movingViewers: false, settings })
    browser = await launchBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await demo?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  for (const [timezoneId, zone] of [
    ['Asia/Kolkata', 330],
    ['America/Phoenix', -420],
  ] as const)
    test(`those of a video are in words, and exact in ${timezoneId}`, async () => {
      const { world } = demo
      const context = await browser.newContext({ timezoneId, locale: 'en-GB' })
      const page = await context.newPage()
      await page.goto(`${world.base_url}/games/${world.game.id}`)
      const time = page.locator('.videos time').first()
      expect(await time.textContent()).toMatch(/ ago$|^just now$/)
      expect(await time.getAttribute('title')).toEndWith(' UTC')
      const shown = new Date(Date.parse((await time.getAttribute('datetime')) ?? '') + zone * 60_000)
      await page.waitForLoadState('load')
      // The card leads to the video; its time is above the link.
      await time.hover()
      await page.locator('.videos time:not([title$=" UTC"])').first().waitFor()
      const title = (await time.getAttribute('title')) ?? ''
      expect(title).toContain(shown.toISOString().slice(11, 16))
      expect(title).toContain(String(shown.getUTCFullYear()))
      expect(title).toMatch(/GMT[+-]/)
      await context.close()
    })
})
