/** The suffix of a test file determines which tier runs it: `*.test.ts` with `npm test`, `*.full.ts` with `npm run test:full`. */
import { expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { Glob } from 'bun'
import { WANTED } from '../support/packages/debian.ts'

const COMPILES = 'tools/preload.ts'
const OWN = relative('.', import.meta.path)

const files = [...new Glob('test/**/*.ts').scanSync('.')].sort()
const textOf = (file: string) => readFileSync(file, 'utf8')

/** A file and every file of the repository outside `src` that it imports, also through others. */
function closureOf(file: string, found = new Set<string>()): ReadonlySet<string> {
  if (found.has(file) || file.startsWith('src/') || !existsSync(file)) return found
  found.add(file)
  for (const [, target = ''] of textOf(file).matchAll(/\b(?:from|import)(?:\s+|\()'(\.[^']+)'/g))
    closureOf(join(dirname(file), target), found)
  return found
}

test('a file of the default tier uses no program of the system that may have to be installed', () => {
  const programs = new RegExp(`\\b(?:${Object.keys(WANTED).join('|')})\\b`)
  const users = files
    .filter(file => file.endsWith('.test.ts') && file !== OWN)
    .flatMap(file =>
      [...closureOf(file)]
        .filter(each => each === COMPILES || programs.test(textOf(each)))
        .map(each => `${file} uses ${each}`),
    )
  expect(users).toEqual([])
})

test('a file that holds tests has the suffix of a tier, or is a part that such files import', () => {
  const tiers = files.filter(file => /\.(test|full)\.ts$/.test(file))
  expect(tiers.length).toBeGreaterThan(100)
  const imported = new Set(tiers.flatMap(file => [...closureOf(file)]))
  const stray = files.filter(
    file => /^import \{[^}]*\btest\b[^}]*\} from 'bun:test'/m.test(textOf(file)) && !imported.has(file),
  )
  expect(stray).toEqual([])
})

test('what tests share is in folders by what it drives', () => {
  const shared = [...new Glob('test/support/**/*').scanSync('.')].map(file => relative('test/support', file))
  expect(shared.filter(file => !file.includes('/')).sort()).toEqual([
    'assertions.ts',
    'operation.ts',
    'properties.ts',
    'server.ts',
    'streams.d.ts',
  ])
  expect(new Set(shared.filter(file => file.includes('/')).map(dirname)).size).toBeLessThanOrEqual(8)
})

test('every operation is described in the default tier', () => {
  expect([...new Glob('test/operations/**/*.full.ts').scanSync('.')]).toEqual([])
})

test('properties that the default tier tries less often are tried fully by the full tier', () => {
  const reduced = files.filter(file => file !== OWN && /numRuns: runs\(/.test(textOf(file)))
  expect(reduced.length).toBeGreaterThan(10)
  expect(reduced.flatMap(unnamedProperties)).toEqual([])
})

/** Of a function of a file, or of a group of tests. */
const DECLARATION = /^ {0,4}(?:const|(?:async )?function) (\w+)/gm

/** The tests of a file that try a property, themselves or by a function of the file, and have another name. */
function unnamedProperties(file: string): string[] {
  const [before = '', ...tests] = textOf(file).split(/^ *(?=(?:test|ok)(?:\.\w+)*\()/m)
  const helpers = [...before.matchAll(/\bruns\(/g)].map(
    ({ index }) => [...before.slice(0, index).matchAll(DECLARATION)].at(-1)?.[1],
  )
  const tries = new RegExp(`\\b(?:${['runs', ...helpers].join('|')})\\(`)
  return tests
    .filter(each => tries.test(each) && !/^\S+\s*['`"]property: /.test(each))
    .map(each => `${file}: ${each.slice(0, 80)}`)
}
