/** docs/command-line.md has every verb, and no other. */
import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { placesUnder } from '../../src/cli/command-tree.ts'
import { createProgram } from '../../src/cli/program.ts'
import { NOUNS } from '../../src/cli/verbs/table.ts'
import { ROOT } from '../support/strand-process.ts'

const page = readFileSync(join(ROOT, 'docs', 'command-line.md'), 'utf8')
const quoted = (text = '') => [...text.matchAll(/`([^`]+)`/g)].map(([, words = '']) => words)

test('the table of nouns and verbs is that of the program', () => {
  const rows = page.split('\n').filter(line => line.startsWith('| `'))
  const result = rows.flatMap(row => {
    const [, nouns, verbs] = row.split('|')
    return quoted(nouns).flatMap(noun => quoted(verbs).map(verb => `${noun} ${verb}`))
  })
  const known = placesUnder(createProgram())
    .filter(({ path, commands }) => (path.split(' ')[0] ?? '') in NOUNS && commands.length === 0)
    .map(({ path }) => path)
  expect(result.toSorted()).toEqual(known.toSorted())
})
