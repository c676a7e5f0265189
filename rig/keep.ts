/** Where reports go: every one into `results/`, and what is to be shown into the README. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Report, toMarkdown } from './figures.ts'

const README = join(import.meta.dirname, 'README.md')
const MARKS = /(<!-- report -->\n)[\s\S]*(<!-- \/report -->)/

/** Keeps a report under the moment of its end, to read and to compute with. */
export function keepReport(report: Report): void {
  const folder = join(import.meta.dirname, 'results')
  mkdirSync(folder, { recursive: true })
  const name = join(folder, new Date().toISOString().slice(0, 19).replaceAll(':', ''))
  writeFileSync(`${name}.json`, `${JSON.stringify(report, undefined, 2)}\n`)
  writeFileSync(`${name}.md`, toMarkdown(report))
}

export function showInReadme(report: Report): void {
  const document = readFileSync(README, 'utf8')
  if (!MARKS.test(document)) throw new Error('the README has no <!-- report --> block')
  writeFileSync(
    README,
    document.replace(MARKS, (_, open: string, close: string) => `${open}${toMarkdown(report)}${close}`),
  )
}
