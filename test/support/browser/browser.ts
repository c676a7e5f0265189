/** A real browser. */
import { type Browser, chromium } from 'playwright-core'

const { TEST_CHROMIUM: executablePath = '' } = process.env
export const hasBrowser = executablePath !== ''

/** What a page waits for may take so long on a busy machine; the time limit of a test is longer. */
const TIMEOUT_MILLISECONDS = 90_000

/** `env` adds to the environment. */
export async function launchBrowser(env: Record<string, string> = {}): Promise<Browser> {
  const browser = await chromium.launch({
    env: { ...process.env, ...env } as Record<string, string>,
    executablePath,
    // Without a graphics processor, drawing as if there was one takes longer.
    args: ['--no-sandbox', '--disable-gpu'],
    timeout: TIMEOUT_MILLISECONDS,
  })
  browser.on('context', context => context.setDefaultTimeout(TIMEOUT_MILLISECONDS))
  return browser
}
