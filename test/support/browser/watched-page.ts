/** A page of a real browser, and everything that is wrong with it: errors, violated policies, requests to other hosts. */
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { DESK } from './look.ts'

export interface WatchedPage {
  readonly page: Page
  readonly violations: string[]
}

/** `expected`: errors in the console that the test causes on purpose. */
export async function openWatched(
  browser: Browser,
  origin: string,
  expected?: RegExp,
  options: BrowserContextOptions = { viewport: DESK },
): Promise<WatchedPage> {
  const page = await browser.newPage(options)
  const violations: string[] = []
  page.on('console', message => {
    const text = message.text()
    if (message.type() === 'error' && !expected?.test(text)) violations.push(text)
  })
  page.on('pageerror', error => violations.push(String(error)))
  page.on('request', request => {
    const isOurs = request.url().startsWith(`${origin}/`) || /^(data|blob):/.test(request.url())
    if (!isOurs) violations.push(`asked ${request.url()}`)
  })
  await page.addInitScript(
    "addEventListener('securitypolicyviolation', event => console.error('policy', event.violatedDirective, event.blockedURI))",
  )
  return { page, violations }
}
