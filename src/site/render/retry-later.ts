/** Pages for people who have to wait, on the site and in the console. */
import type { Page } from './page.ts'

export const LOCKED_OUT = 'Too many failed attempts. Wait a few minutes and try again.'
/** Approximate wait after too many attempts. */
export const LOCKED_OUT_SECONDS = 60

export const withRetryAfter = (page: Page, retryAfterSeconds: number): Page => ({
  ...page,
  retryAfterSeconds,
})
