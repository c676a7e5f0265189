/** docs/command-line.md lists every verb and no other, and its commands work one after the other on a new store. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { copyFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { placesUnder } from '../../src/cli/help/command-tree.ts'
import { createProgram } from '../../src/cli/program.ts'
import { NOUNS } from '../../src/cli/verbs/table.ts'
import { Shell } from '../support/cli/shell.ts'
import { endAllProcesses, ROOT } from '../support/cli/strand-process.ts'
import { freePort } from '../support/store/postgres.ts'

const page = readFileSync(join(ROOT, 'docs', 'command-line.md'), 'utf8')
const quoted = (text = '') => [...text.matchAll(/`([^`]+)`/g)].map(([, words = '']) => words)

const shell = new Shell()
afterAll(async () => {
  await endAllProcesses()
  shell.remove()
})

test('the table of nouns and verbs is that of the program', async () => {
  const rows = page.split('\n').filter(line => line.startsWith('| `'))
  const result = rows.flatMap(row => {
    const [, nouns, verbs] = row.split('|')
    return quoted(nouns).flatMap(noun => quoted(verbs).map(verb => `${noun} ${verb}`))
  })
  const known = placesUnder(await createProgram())
    .filter(({ path, commands }) => (path.split(' ')[0] ?? '') in NOUNS && commands.length === 0)
    .map(({ path }) => path)
  expect(result.toSorted()).toEqual(known.toSorted())
})

describe('its commands work as written, in a folder in which the server was started', () => {
  const blocks = [...page.matchAll(/^```sh\n(.*?)^```/gms)].map(([, block = '']) => block.trim())
  const lines = blocks.flatMap(block => block.split('\n'))
  let url = ''

  beforeAll(async () => {
    url = `http://127.0.0.1:${await freePort()}`
    const server = shell.start(`strand serve --listen ${url.replace('http://', '')}`)
    await server.until(({ stderr }) => stderr.includes('"serving"'))
    copyFileSync(join(shell.data, 'operator-token'), join(shell.folder, 'operator-token'))
  })

  test('there are some', () => expect(lines.length).toBeGreaterThan(6))
  for (const line of lines) {
    test(line, async () => {
      const { code, stderr } = await shell.run(line.replace('https://operator.example.org', url))
      expect([code, stderr]).toEqual([0, expect.not.stringMatching(/^strand:/m)])
    })
  }
})
