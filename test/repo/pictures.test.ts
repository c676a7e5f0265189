/** The pictures of README and docs: made by `npm run screenshots`, light and dark, small, and each where it is shown. */
import { expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Glob } from 'bun'
import { FOLDER, MAX_BYTES, SCHEMES, SHOTS } from '../../build/screenshot-list.ts'

const documents = ['*.md', 'docs/**/*.md'].flatMap(pattern => [...new Glob(pattern).scanSync('.')])
const pictures = readdirSync(FOLDER).map(file => join(FOLDER, file))

/** Pictures that a document shows, as paths from the root. */
const shownIn = (document: string) =>
  [...readFileSync(document, 'utf8').matchAll(/(?:src|srcset)="([^"]+)"|!\[[^\]]*\]\(([^)]+)\)/g)]
    .map(([, attribute, link]) => attribute ?? link ?? '')
    .filter(path => /\.(webp|png|jpe?g|gif|svg)$/.test(path) && !/^[a-z]+:/.test(path))
    .map(path => join(dirname(document), path))

test('every picture that a document shows exists, and every picture is shown', () => {
  const shown = documents.flatMap(document => shownIn(document).map(path => ({ document, path })))
  expect(shown.filter(({ path }) => !existsSync(path))).toEqual([])
  const paths = new Set(shown.map(({ path }) => path))
  expect(pictures.filter(path => !paths.has(path))).toEqual([])
  expect(shown.length).toBeGreaterThan(4)
})

test('every picture is one that the script makes, in both schemes', () => {
  const made = SHOTS.flatMap(({ name }) => SCHEMES.map(scheme => join(FOLDER, `${name}-${scheme}.webp`)))
  expect(pictures.filter(path => !made.includes(path))).toEqual([])
  for (const { name } of SHOTS) {
    const there = SCHEMES.filter(scheme => pictures.includes(join(FOLDER, `${name}-${scheme}.webp`)))
    expect([name, there.length % SCHEMES.length]).toEqual([name, 0])
  }
})

test('README shows pictures, with a text for those who cannot see them', () => {
  const text = readFileSync('README.md', 'utf8')
  const found = [...text.matchAll(/<img src="docs\/screenshots\/[^"]+" alt="([^"]+)"/g)]
  expect(found.length).toBeGreaterThanOrEqual(2)
  for (const [, alt = ''] of found) expect(alt.length).toBeGreaterThan(20)
})

test('together they are small', () => {
  const bytes = pictures.reduce((sum, path) => sum + statSync(path).size, 0)
  expect(bytes).toBeLessThan(MAX_BYTES)
})
