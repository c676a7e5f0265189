import { expect, test } from 'bun:test'
import type { Key, Page, PageRequest } from '../../src/contract/page.ts'
import { MAX_PICKED, pickFrom } from '../../src/store/keyset.ts'

const SIZE = 3 * MAX_PICKED
const FIRST = 20

/** The numbers from 0, as a list that counts what it returns. */
function numbers() {
  const list = { read: 0 }
  const page = async ({ first, direction, from }: PageRequest): Promise<Page<number>> => {
    const start = Number(from?.[0] ?? (direction === 'forward' ? -1 : SIZE))
    const length = Math.min(first, direction === 'forward' ? SIZE - 1 - start : start)
    list.read += length
    const rows = Array.from({ length }, (_, n) =>
      direction === 'forward' ? start + 1 + n : start - length + n,
    )
    return { rows, more: direction === 'forward' ? start + length < SIZE - 1 : start - length > 0 }
  }
  return { list, page }
}

async function walk(direction: PageRequest['direction'], filter: (row: number) => boolean) {
  const { list, page: read } = numbers()
  const [found, pages]: [number[], Page<number>[]] = [[], []]
  let from: Key | undefined
  for (let more = true; more; ) {
    list.read = 0
    const window = { first: FIRST, direction, ...(from && { from }) }
    const page = await pickFrom(read, { window, sortKey: row => [row], filter })
    expect(list.read).toBeLessThanOrEqual(MAX_PICKED + FIRST)
    expect(page.rows.length).toBeLessThanOrEqual(FIRST)
    pages.push(page)
    if (direction === 'forward') found.push(...page.rows)
    else found.unshift(...page.rows)
    const [top, bottom] = [page.rows[0], page.rows.at(-1)]
    from = direction === 'forward' ? (page.span?.last ?? [bottom ?? 0]) : (page.span?.first ?? [top ?? 0])
    more = page.more
  }
  return { found, pages }
}

const RARE = (row: number) => row % 4000 === 17 || (row > 9000 && row < 9100)
const expected = Array.from({ length: SIZE }, (_, n) => n).filter(RARE)

for (const direction of ['forward', 'backward'] as const) {
  test(`a page that is picked ${direction} reads a bounded number of rows, and a walk finds every match once`, async () => {
    const { found, pages } = await walk(direction, RARE)
    expect(found).toEqual(expected)
    expect(pages.some(page => page.span !== undefined)).toBe(true)
  })

  test(`a walk ${direction} in which nothing matches ends`, async () => {
    const { found, pages } = await walk(direction, () => false)
    expect(found).toEqual([])
    expect(pages.length).toBe(SIZE / MAX_PICKED)
  })
}
