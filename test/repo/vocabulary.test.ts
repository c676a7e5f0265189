/** Keeps names and prose in the words of the field: STYLE.md, "Words". */
import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { Glob } from 'bun'

/** Words and phrases that prose, messages and comments avoid, in any case. */
const WORDS = new RegExp(
  `\\b(${[
    'anew|whoever|whosever|somebody|nobody|anybody|everybody',
    'tell|tells|telling|told|say|says|saying|said',
    'a moment ago|of late|as it stands|as they stand|its own|goes? on|going on|what there is',
    // "is at least" and "is at most" are bounds.
    '(?:is|are) at(?! (?:least|most|once)\\b)',
    'houses?|rooms|doors|arrows|visits?|visited|letterheads?|figures|levers',
    'suffers?|suffered|complaints?|complains?|complained|dress|dressed',
    // The specification is not in the repository: decisions have numbers of `docs/decisions.md`.
    'spec(?:ification)? \\d',
  ].join('|')})\\b`,
  'gi',
)

/** Names of the old dialect as a part of an identifier: `House` in `openHouse`, but not `Housekeeping`. */
const IDENTIFIERS =
  /\b\w*?(?:House|Rooms|Visit|Letterhead|Figures|Eventual|CannotStart|CalledWrongly|Levers|Audience|Showing)(?![a-z])\w*|\b(?:andThen|furnish|lookAfter|keepHouse|Poster|Posted)(?![a-z])\w*/g

/** Texts that may contain such a word, because another program or a standard fixes them. */
const ALLOWED: readonly string[] = ['adr/0020-figures-and-the-operators-listener.md', '`complaint`', '`says`']

const SEARCHED = [
  'src/**/*.{ts,tsx}',
  '{test,rig,bench}/**/*.ts',
  'docs/**/*.md',
  '{README,ARCHITECTURE,CONTRIBUTING,STYLE,SECURITY}.md',
]

/** It has to name the words. */
const OWN = relative('.', import.meta.path)

const files = SEARCHED.flatMap(pattern => [...new Glob(pattern).scanSync('.')])
  .filter(file => !file.startsWith('docs/adr/') && !file.includes('node_modules') && file !== OWN)
  .sort()

/** Each hit as `file:line: word`. */
function hitsIn(file: string, patterns: readonly RegExp[]): string[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((line, index) => {
      const text = ALLOWED.reduce((rest, allowed) => rest.replaceAll(allowed, ''), line)
      return patterns.flatMap(pattern =>
        Array.from(text.matchAll(pattern), ([word]) => `${file}:${index + 1}: ${word}`),
      )
    })
}

test('the search covers code, tests and documents', () => {
  expect(files.length).toBeGreaterThan(300)
  for (const file of ['src/contract/operation.ts', 'test/support/server.ts', 'rig/run.ts', 'bench/run.ts'])
    expect(files).toContain(file)
  expect(files).toContain('README.md')
})

test('code and documents use none of the words that the style avoids', () => {
  expect(files.flatMap(file => hitsIn(file, [WORDS]))).toEqual([])
})

test('no identifier of the old dialect is left in the code', () => {
  const code = files.filter(file => file.endsWith('.ts'))
  expect(code.flatMap(file => hitsIn(file, [IDENTIFIERS]))).toEqual([])
})
