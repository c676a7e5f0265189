import { expect, test } from 'bun:test'
import { createProgram } from '../../src/cli/program.ts'
import { NOUNS, verbs } from '../../src/cli/verbs/table.ts'
import { mayAsk } from '../../src/cli/verbs/verb.ts'
import { controlOperations } from '../../src/contract/index.ts'
import { helpOf, leaves } from '../support/cli/command-tree.ts'

test('every operation of the control API is a verb of the command line (src/contract/admin)', () => {
  const offered = new Set(verbs.map(verb => verb.operation.id))
  const missing = Object.values(controlOperations)
    // What answers lines without end is import and export, which are commands of their own.
    .filter(operation => !('answerLines' in operation))
    .map(operation => operation.id)
    .filter(id => !offered.has(id))
  expect(missing).toEqual([])
})

test('every noun of the table has a sentence, and no sentence is idle', () => {
  const used = new Set(verbs.map(verb => verb.words.split(' ').slice(0, -1).join(' ')))
  expect(Object.keys(NOUNS).sort()).toEqual([...used].sort())
})

test('words are unique, and every verb has an example that begins with them', () => {
  expect(new Set(verbs.map(verb => verb.words)).size).toBe(verbs.length)
  for (const { words, examples } of verbs) {
    expect([words, examples.length > 0 && examples.every(each => each.startsWith(words))]).toEqual([
      words,
      true,
    ])
  }
})

test('every command describes what it does and shows an example', async () => {
  for (const { words, help, examples } of await leaves()) {
    if (words === 'version') continue
    expect([words, examples.length > 0]).toEqual([words, true])
    expect(help.split('\n')[2]).toMatch(/\w{3}/)
  }
})

test('the examples of strand itself are among those of its commands', async () => {
  const [, shown = ''] = helpOf(await createProgram()).split('\nExamples:\n')
  const examples = shown
    .trim()
    .split('\n')
    .map(line => line.trim())
  const known = (await leaves()).flatMap(leaf => leaf.examples)
  expect(examples.length).toBeGreaterThan(2)
  expect(examples.filter(each => !known.includes(each))).toEqual([])
})

test('every field of an operation has a flag', () => {
  for (const verb of verbs) {
    const unsaid = verb.fields.filter(({ kind }) => kind === 'other')
    expect([verb.words, unsaid.map(({ name }) => name)]).toEqual([verb.words, []])
    const flags = verb.fields.map(({ word }) => word)
    expect([verb.words, new Set(flags).size]).toEqual([verb.words, flags.length])
  }
})

test('what deletes asks first, unless it can be undone by another verb', () => {
  const silent = verbs.filter(verb => verb.operation.method === 'DELETE' && !mayAsk(verb))
  expect(silent.map(verb => verb.words).sort()).toEqual([
    'editor remove',
    'fault clear',
    'follow remove',
    'org member remove',
    'request clear',
    'stream end',
    'stream kick',
    'user unsuspend',
    'watching remove',
  ])
})
