import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Glob } from 'bun'

type Imports = ReadonlyMap<string, readonly string[]>

/** The local files that a file imports, types included. */
function importsOf(file: string): string[] {
  const targets = readFileSync(file, 'utf8').matchAll(/\b(?:from|import)(?:\s+|\()'(\.[^']+)'/g)
  return Array.from(targets, ([, target = '']) => join(dirname(file), target))
}

function reachableFrom(file: string, imports: Imports): Set<string> {
  const reached = new Set<string>()
  const ahead = [file]
  for (let next = ahead.pop(); next !== undefined; next = ahead.pop()) {
    for (const target of imports.get(next) ?? []) {
      if (reached.has(target)) continue
      reached.add(target)
      ahead.push(target)
    }
  }
  return reached
}

/** The files of each cycle, or of each group of cycles that share a file. */
function cyclesIn(imports: Imports): string[][] {
  const reached = new Map([...imports.keys()].map(file => [file, reachableFrom(file, imports)]))
  const groups = [...reached]
    .filter(([file, files]) => files.has(file))
    .map(([file, files]) => [...files].filter(each => reached.get(each)?.has(file)).sort())
  return [...new Map(groups.map(group => [group.join(), group])).values()]
}

test('a cycle is found, without the files that lead to it or away from it', () => {
  const imports = new Map([
    ['a', ['b', 'e']],
    ['b', ['c']],
    ['c', ['b', 'd']],
    ['d', []],
    ['e', ['d', 'e']],
  ])
  expect(cyclesIn(imports)).toEqual([['b', 'c'], ['e']])
})

for (const folder of ['src', 'bench']) {
  test(`no import cycle between files of ${folder}`, () => {
    const files = [...new Glob(`${folder}/**/*.{ts,tsx}`).scanSync('.')].sort()
    expect(files.length).toBeGreaterThan(20)
    const cycles = cyclesIn(new Map(files.map(file => [file, importsOf(file)])))
    expect(cycles).toEqual([])
  })
}
