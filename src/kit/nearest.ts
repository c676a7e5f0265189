import { assertDefined } from './assert-defined.ts'

/** The name with the smallest edit distance, if that is small: probably the one that was meant. */
export function nearestName(given: string, names: readonly string[]): string | undefined {
  const most = Math.max(2, Math.floor(given.length / 5))
  const ranked = names
    // The distance is at least the difference in length, and much more expensive to compute.
    .filter(name => Math.abs(name.length - given.length) <= most)
    .map(name => ({ name, changes: editDistance(given, name) }))
    .filter(({ changes }) => changes <= most)
    .sort((a, b) => a.changes - b.changes)
  return ranked[0]?.name
}

/** The Levenshtein distance. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let i = 1; i <= from.length; i++) {
    const next = [i]
    for (let j = 1; j <= to.length; j++) {
      const replaced = at(row, j - 1) + (from[i - 1] === to[j - 1] ? 0 : 1)
      next.push(Math.min(replaced, at(row, j) + 1, at(next, j - 1) + 1))
    }
    row = next
  }
  return at(row, to.length)
}

const at = (row: readonly number[], index: number) =>
  assertDefined(row[index], 'a cell of the distance matrix')
