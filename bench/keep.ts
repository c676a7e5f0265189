/** Where results go: every run into `results/`, and what is to be shown into the README and the pictures beside it. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const HERE = import.meta.dirname
const README = join(HERE, 'README.md')

/** Keeps a run under the moment of its end, each kind of result with its ending: `.json`, `-growth.svg`. */
export function keepResults(results: Readonly<Record<string, string>>): void {
  const folder = join(HERE, 'results')
  mkdirSync(folder, { recursive: true })
  const moment = new Date().toISOString().slice(0, 19).replaceAll(':', '')
  for (const [ending, content] of Object.entries(results))
    writeFileSync(join(folder, `${moment}${ending}`), content)
}

export function showPicture(name: string, svg: string): void {
  writeFileSync(join(HERE, name), svg)
}

/** Puts text between the marks of a block of the README. */
export function showInReadme(block: string, markdown: string): void {
  const marks = new RegExp(`(<!-- ${block} -->\n)[\\s\\S]*(<!-- /${block} -->)`)
  const document = readFileSync(README, 'utf8')
  if (!marks.test(document)) throw new Error(`the README has no <!-- ${block} --> block`)
  writeFileSync(
    README,
    document.replace(marks, (_, open: string, close: string) => `${open}${markdown}${close}`),
  )
}
