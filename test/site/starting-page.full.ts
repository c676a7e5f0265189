/** A browser that comes while the server starts. */
import { expect, test } from 'bun:test'
import { hasBrowser, launchBrowser } from '../support/browser/browser.ts'
import { holdStart } from '../support/server/starting-server.ts'

test.skipIf(!hasBrowser)('a person who comes too early waits, and then sees the site', async () => {
  const server = await holdStart()
  const browser = await launchBrowser()
  try {
    const page = await browser.newPage()
    const violations: string[] = []
    page.on('console', message => {
      if (message.text().includes('Content Security Policy')) violations.push(message.text())
    })
    let loads = 0
    page.on('load', () => {
      loads += 1
    })
    await page.goto(`${server.url}/login`)
    const heading = page.getByRole('heading', { level: 1 })
    expect(await heading.textContent()).toBe('Strand is starting')
    const isCentred = `getComputedStyle(document.body).display === 'grid'`
    // The page may load again just now.
    await page.waitForFunction(isCentred)
    // It asks again by itself, while the server is not ready.
    while (loads < 3) await Bun.sleep(50)
    expect(await heading.textContent()).toBe('Strand is starting')
    await server.finish()
    await page.getByRole('heading', { level: 1, name: 'Log in' }).waitFor()
    expect(page.url()).toBe(`${server.url}/login`)
    const reloads = loads
    await page.getByLabel('Password').fill('typed')
    expect([loads, await page.evaluate<number>('history.length')]).toEqual([reloads, 2])
    expect(violations).toEqual([])
  } finally {
    await browser.close()
    await server.stop()
  }
})
