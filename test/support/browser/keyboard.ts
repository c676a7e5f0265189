/** A person who uses the keyboard alone. What has the focus must be seen, at every step. */
import { expect } from 'bun:test'
import type { Locator, Page } from 'playwright-core'

/** More than any page has. */
const MAX_STEPS = 150

/** What is wrong with the element that has the focus; undefined if it can be seen and shows that it has it. */
const FOCUS = `(() => {
  const element = document.activeElement
  if (element === null || element === document.body) return undefined
  const name = element.outerHTML.slice(0, 120)
  if (!element.matches(':focus-visible')) return 'without a ring: ' + name
  const hasOutline = each => {
    const { outlineStyle, outlineWidth } = getComputedStyle(each)
    return outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2
  }
  // Cards and fields of tags show the ring around all of them.
  let shown = element
  while (shown !== null && !hasOutline(shown)) shown = shown.parentElement
  if (shown === null) return 'without a ring: ' + name
  const { left, top, width, height } = element.getBoundingClientRect()
  const isSeen = [0.5, 0.1, 0.9].some(x => [0.5, 0.1, 0.9].some(y => {
    const found = document.elementFromPoint(left + width * x, top + height * y)
    return found !== null && (element.contains(found) || found.contains(element) && shown.contains(found))
  }))
  return isSeen ? undefined : 'covered or outside the window: ' + name
})()`

const isFocused = (target: Locator) =>
  target.evaluate(element => element === element.ownerDocument.activeElement)

async function step(page: Page, key: 'Tab' | 'Shift+Tab'): Promise<void> {
  await page.keyboard.press(key)
  // The bar of a player is drawn when the focus has come.
  await page.evaluate('new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(resolve)))')
  expect([page.url(), await page.evaluate(FOCUS)]).toEqual([page.url(), undefined])
}

/** Presses Tab until an element has the focus. */
export async function tabTo(page: Page, target: Locator): Promise<void> {
  for (let steps = 0; steps < MAX_STEPS; steps++) {
    if ((await target.count()) > 0 && (await isFocused(target.first()))) return
    await step(page, 'Tab')
  }
  throw new Error(`the keyboard does not reach ${target}`)
}

/** Goes through a page from its start to its end. The number of stops. */
export async function tabThrough(page: Page): Promise<number> {
  await page.evaluate('document.activeElement.blur()')
  let stops = 0
  for (; stops < MAX_STEPS; stops++) {
    await step(page, 'Tab')
    if (await page.evaluate('document.activeElement === document.body')) return stops
  }
  throw new Error('the keyboard does not leave the page')
}
