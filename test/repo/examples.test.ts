/** The projects in `examples` can be copied: each is complete, declares what it imports, and pins it. */
import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Glob } from 'bun'

const names = readdirSync('examples', { withFileTypes: true })
  .filter(entry => entry.isDirectory())
  .map(({ name }) => name)
const readme = readFileSync('examples/README.md', 'utf8')

interface Manifest {
  readonly private: boolean
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
}

/** The packages that a file imports: `@scope/name` or `name` of each path. */
function packagesIn(text: string): string[] {
  const imports = text.matchAll(/(?:\bfrom |\bimport |\bimport\(|\brequire\()'([^'.][^']*)'/g)
  return Array.from(imports, ([, path = '']) => /^(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? path)
}

test('the list has every example', () => {
  const listed = Array.from(readme.matchAll(/^\| \[([a-z-]+)\]\(\1\) \|/gm), ([, name = '']) => name)
  expect(listed.sort()).toEqual(names.sort())
})

for (const name of names) {
  describe(`examples/${name}`, () => {
    const folder = join('examples', name)
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
    const declared = { ...manifest.dependencies, ...manifest.devDependencies }

    test('has two commands', () => {
      const [, commands] = /```sh\n([^`]*)```/.exec(readFileSync(join(folder, 'README.md'), 'utf8')) ?? []
      expect(commands).toBe('npm install\nnpm test\n')
    })

    test('is private and pins its dependencies', () => {
      expect(manifest.private).toBeTrue()
      for (const [dependency, version] of Object.entries(declared))
        expect([dependency, version]).toEqual([
          dependency,
          expect.stringMatching(/^(\d+\.\d+\.\d+|file:\.\.\/.*)$/),
        ])
    })

    test('declares what it imports', () => {
      const files = [...new Glob('**/*.{js,ts}').scanSync(folder)].filter(
        file => !file.includes('node_modules'),
      )
      const imported = files.flatMap(file => packagesIn(readFileSync(join(folder, file), 'utf8')))
      const missing = imported.filter(each => !/^(node|bun):/.test(each) && !(each in declared))
      expect(missing).toEqual([])
    })
  })
}
