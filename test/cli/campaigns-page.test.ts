/** docs/campaigns.md: its commands print what the page shows, one after the other on a demo. */
import { afterAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Shell } from '../support/cli/shell.ts'
import { endAllProcesses, ROOT } from '../support/cli/strand-process.ts'
import { freePort } from '../support/store/postgres.ts'

const page = readFileSync(join(ROOT, 'docs', 'campaigns.md'), 'utf8')
const blocks = [...page.matchAll(/^```(\w+)\n(.*?)^```/gms)].map(([, language = '', text = '']) => ({
  language,
  text,
}))
const inLanguage = (language: string) =>
  blocks.filter(each => each.language === language).map(({ text }) => text)

const shell = new Shell()
afterAll(async () => {
  await endAllProcesses()
  shell.remove()
})

/** A command of a transcript, and what it prints; a line of three dots stands for any lines. */
interface Exchange {
  readonly command: string
  readonly shown: string
}

const exchanges: Exchange[] = inLanguage('console')
  .flatMap(text => text.split(/^\$ /m).slice(1))
  .map(text => {
    const [command = '', ...lines] = text.split('\n')
    return { command, shown: lines.join('\n').trim() }
  })

const splitLines = (text: string) => (text === '' ? [] : text.split(/\r?\n/))

const UUID = /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g

test('every block is of a kind that is run', () => {
  expect([...new Set(blocks.map(({ language }) => language))].sort()).toEqual([
    'console',
    'json',
    'sh',
    'text',
  ])
  expect(exchanges.length).toBeGreaterThan(15)
})

test('the commands print what the page shows', async () => {
  const [start = '', variables = ''] = inLanguage('sh')
  const demo = shell.start(`${start.trim()} --port ${await freePort()} --json`)
  const known = await demo.until(({ stdout }) => stdout.endsWith('\n') && stdout)
  const { base_url } = JSON.parse(known)
  const here = (text: string) => text.replaceAll('http://localhost:8080', base_url)
  /** Ids that the server has chosen differ in every run. */
  const settle = (text: string) =>
    text.replace(UUID, id => (known.includes(id) || id.startsWith('11111111') ? id : '<id>'))
  shell.write('campaign.json', inLanguage('json')[0] ?? '')
  const script = exchanges.map(({ command }, index) => `printf '\\n@@%s\\n' ${index}\n${command} 2>&1`)
  const printed = await shell.output(`${here(variables)}\n${script.join('\n')}\ntrue`)
  const answers = printed.split(/^@@\d+\n/m).slice(1)
  expect(answers).toHaveLength(exchanges.length)
  for (const [index, { command, shown }] of exchanges.entries()) {
    const answer = settle((answers[index] ?? '').trim())
    if (answer.startsWith('{'))
      expect([command, JSON.parse(answer)]).toEqual([command, JSON.parse(settle(shown))])
    else if (!isShown(splitLines(settle(shown)), splitLines(answer)))
      throw new Error(`${command} printed\n${answer}\nbut the page shows\n${shown}`)
  }
  const [authorize = ''] = inLanguage('text')
  const asked = await fetch(here(authorize.trim()))
  expect([asked.status, await asked.text()]).toEqual([200, expect.stringContaining('Reef drops back end')])
})

/** Whether lines are those that the page shows. */
function isShown(shown: readonly string[], lines: readonly string[]): boolean {
  const [first, ...others] = shown
  if (first === undefined) return lines.length === 0
  if (first === '...') return [...lines, ''].some((_, skipped) => isShown(others, lines.slice(skipped)))
  return lines[0]?.trimEnd() === first && isShown(others, lines.slice(1))
}
