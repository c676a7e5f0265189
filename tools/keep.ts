/** Saves every run into `results/` of its folder, and selected results into the README there. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Saves a run under the time of its end, each kind of result with a suffix: `.json`, `-growth.svg`. */
export function keepResults(home: string, results: Readonly<Record<string, string>>): void {
  const folder = join(home, 'results')
  mkdirSync(folder, { recursive: true })
  const moment = new Date().toISOString().slice(0, 19).replaceAll(':', '')
  for (const [ending, content] of Object.entries(results))
    writeFileSync(join(folder, `${moment}${ending}`), content)
}

/** Replaces the text between the marks of a block of the README. */
export function showInReadme(home: string, block: string, markdown: string): void {
  const readme = join(home, 'README.md')
  const marks = new RegExp(`(<!-- ${block} -->\n)[\\s\\S]*(<!-- /${block} -->)`)
  const document = readFileSync(readme, 'utf8')
  if (!marks.test(document)) throw new Error(`the README has no <!-- ${block} --> block`)
  writeFileSync(
    readme,
    document.replace(marks, (_, open: string, close: string) => `${open}${markdown}${close}`),
  )
}
