/** docs/dependencies.md has every package, with the version and license of package-lock.json. */
import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { BUILD_TOOLS, bundledPackages, TYPEFACE } from '../../build/bundled-packages.ts'
import root from '../../package.json' with { type: 'json' }
import ofTests from '../package.json' with { type: 'json' }

const page = readFileSync('docs/dependencies.md', 'utf8')
const sections = new Map(
  page.split(/^## /m).map(section => [section.slice(0, section.indexOf('\n')), section] as const),
)
const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
  packages: Record<string, { version: string; license: string }>
}

/** Rows: name, version, license, last release, reason. */
function rowsOf(title: string): readonly (readonly string[])[] {
  const lines = sections.get(title)?.match(/^\| .*$/gm) ?? []
  return lines.slice(1).map(line =>
    line
      .split('|')
      .slice(1, -1)
      .map(cell => cell.trim()),
  )
}

const isTool = ([name]: readonly [string, string]) => BUILD_TOOLS.includes(name)
const direct = Object.entries({ ...root.dependencies, ...root.devDependencies })

test.each([
  ['In the program', direct.filter(each => !isTool(each))],
  ['To build', direct.filter(isTool)],
  ['To test and check', Object.entries(ofTests.devDependencies)],
] as const)('%s: each package with version, license, last release and reason', (title, packages) => {
  const rows = rowsOf(title)
  const sorted = packages.toSorted(([a], [b]) => (a < b ? -1 : 1))
  expect(rows.map(([name, version]) => [name, version])).toEqual(sorted.map(each => [...each]))
  for (const [name = '', , license, released = '', reason = ''] of rows) {
    expect([name, license]).toEqual([name, lock.packages[`node_modules/${name}`]?.license])
    expect([name, released]).toEqual([name, expect.stringMatching(/^20\d\d-[01]\d-[0-3]\d( \([\d.]+\))?$/)])
    expect([name, reason.length > 10]).toEqual([name, true])
  }
})

test('what these bring into the program is named, and so is the typeface', () => {
  const section = sections.get('In the program') ?? ''
  for (const { name } of bundledPackages()) expect(section).toContain(name)
  expect(section).toContain(`${TYPEFACE.name} ${TYPEFACE.version}, ${TYPEFACE.license}`)
})
