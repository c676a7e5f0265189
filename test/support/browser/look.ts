/** A page as people see it. STRAND_PICTURES names a folder to keep pictures in. */
import { expect } from 'bun:test'
import axe from 'axe-core'
import type { Page } from 'playwright-core'

const pictures = process.env.STRAND_PICTURES || undefined

export const PHONE = { width: 390, height: 844 }
export const DESK = { width: 1440, height: 900 }

/** Holds the open page against axe-core, on a phone and a desk, light and dark. */
export async function look(page: Page, name: string): Promise<void> {
  for (const [width, viewport] of [
    ['phone', PHONE],
    ['desk', DESK],
  ] as const) {
    await page.setViewportSize(viewport)
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      const violations = await violationsOn(page, colorScheme)
      expect(violations.map(each => [name, width, colorScheme, ...each])).toEqual([])
      const overflow = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
      expect([name, width, Math.max(0, overflow)]).toEqual([name, width, 0])
      if (pictures)
        await page.screenshot({ path: `${pictures}/${name}-${width}-${colorScheme}.png`, fullPage: true })
    }
  }
  await page.setViewportSize(DESK)
  await page.emulateMedia({ colorScheme: 'light' })
}

/** Also what is far from the screen, which a browser leaves out: axe would take other grounds for it than it has. */
export async function layOutAll(page: Page): Promise<void> {
  await page.evaluate(
    `for (const each of document.querySelectorAll('article')) each.style.contentVisibility = 'visible'`,
  )
}

/** What axe-core finds on the open page. Schemes differ in their colours alone, so the rest is checked in one of them. */
export async function violationsOn(
  page: Page,
  colorScheme: 'light' | 'dark',
): Promise<(readonly [rule: string, html: string | undefined])[]> {
  if (!(await page.evaluate<boolean>('"axe" in window'))) await page.evaluate(axe.source)
  await layOutAll(page)
  // Of rules that are kept, axe need not collect the elements.
  const options: axe.RunOptions = {
    resultTypes: ['violations'],
    ...(colorScheme === 'dark' && { runOnly: ['color-contrast'] }),
  }
  return page.evaluate(
    `axe.run(document, ${JSON.stringify(options)})
      .then(({ violations }) => violations.map(each => [each.id, each.nodes[0]?.html]))`,
  )
}
