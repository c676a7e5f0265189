/** The package as npm packs it, unpacked in an empty folder and used from Node, as somebody who installed it would. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import manifest from '../../package.json' with { type: 'json' }
import { VERSION } from '../../src/version.ts'
import { ROOT } from '../support/strand-process.ts'

const guide = readFileSync(join(ROOT, 'docs/testing-against-strand.md'), 'utf8')
const pytest = process.env.TEST_PYTEST || undefined

let folder = ''
let packed: string[] = []

/** Runs a program in the folder of the one who installed the package. */
async function run(words: readonly string[], environment: Record<string, string> = {}) {
  const child = Bun.spawn([...words], {
    cwd: folder,
    env: { ...process.env, PATH: `${join(folder, 'node_modules/.bin')}:${process.env.PATH}`, ...environment },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  return { code: await child.exited, stdout, stderr }
}

/** The example of the guide behind this mark. */
function example(mark: string): string {
  const [, code] = new RegExp(`<!-- run: ${mark} -->\n\`\`\`\\w+\n([\\s\\S]*?)\`\`\``).exec(guide) ?? []
  if (code === undefined) throw new Error(`the guide has no example ${mark}`)
  return code
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'strand-package-'))
  const pack = Bun.spawnSync(['npm', 'pack', '--pack-destination', folder], {
    cwd: ROOT,
    stdout: 'ignore',
    stderr: 'pipe',
  })
  expect([pack.exitCode, pack.exitCode === 0 ? '' : pack.stderr.toString()]).toEqual([0, ''])
  const home = join(folder, 'node_modules', 'strand')
  mkdirSync(home, { recursive: true })
  const tarball = join(folder, `strand-${VERSION}.tgz`)
  const unpack = Bun.spawnSync(['tar', '-xvzf', tarball, '-C', home, '--strip-components=1'])
  packed = unpack.stdout
    .toString()
    .trim()
    .split('\n')
    .map(line => line.replace(/^package\//, ''))
  // What npm would fetch is here already: the dependencies, and the link that npx follows.
  for (const name of Object.keys(manifest.dependencies)) {
    symlinkSync(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name))
  }
  mkdirSync(join(folder, 'node_modules', '.bin'))
  symlinkSync(join(home, manifest.bin.strand), join(folder, 'node_modules', '.bin', 'strand'))
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'consumer', type: 'module' }))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('the package', () => {
  test('has what it exports and the documents, and neither tests nor an executable', () => {
    const targets = Object.values(manifest.exports).flatMap(each =>
      typeof each === 'string' ? [each] : Object.values(each).flatMap(way => Object.values(way)),
    )
    for (const target of targets) expect(packed).toContain(target.replace('./', ''))
    for (const file of [
      'LICENSE',
      'README.md',
      'CHANGELOG.md',
      'docs/scenarios/drops.json',
      'bin/strand.js',
    ]) {
      expect(packed).toContain(file)
    }
    expect(packed.filter(file => /\.test\.ts$|^test\/|^bench\/|^rig\/|^dist\/strand$/.test(file))).toEqual([])
  })

  test('npx strand version', async () => {
    const { code, stdout } = await run(['npx', '--no-install', 'strand', 'version'])
    expect([code, stdout]).toEqual([0, `${VERSION}\n`])
  })

  test('what it exports can be imported from Node', async () => {
    for (const door of ['strand', 'strand/client']) {
      const script = `const door = await import('${door}'); console.log(Object.keys(door).length > 0)`
      expect(await run(['node', '--input-type=module', '-e', script])).toMatchObject({
        code: 0,
        stdout: 'true\n',
      })
    }
  })

  test('is typed, for both ways of resolving', async () => {
    writeFileSync(
      join(folder, 'use.ts'),
      `import { type RunningStrand, startStrand, type World } from 'strand'
import { type Client, createClient } from 'strand/client'
export const make: (options: Parameters<typeof createClient>[0]) => Client = createClient
// @ts-expect-error: there is no such option
export const wrong: Parameters<typeof createClient>[0] = { nothing: 1 }
const strand: RunningStrand = await startStrand({ clock: new Date(), scenario: { tokens: { old: { state: 'expired' } } } })
const world: World = strand.world
export const token: string | undefined = world.scenario?.old?.token
await strand.faults.plan({ operation: 'GetStreams', outcome: 'slow', milliseconds: 5 })
// @ts-expect-error: there is no such state
await startStrand({ scenario: { tokens: { old: { state: 'stale' } } } })
`,
    )
    const ways = [
      ['--module', 'nodenext', '--moduleResolution', 'nodenext'],
      ['--module', 'esnext', '--moduleResolution', 'bundler'],
    ]
    for (const way of ways) {
      const lib = ['--target', 'es2022', '--lib', 'es2023,esnext.disposable', '--types', '']
      const tsc = join(ROOT, 'node_modules/.bin/tsc')
      const { code, stdout } = await run([
        tsc,
        '--noEmit',
        '--strict',
        '--skipLibCheck',
        ...lib,
        ...way,
        'use.ts',
      ])
      expect([way[1], code, stdout]).toEqual([way[1], 0, ''])
    }
  })

  test('a child of Node serves when startStrand resolves, and ends with Node', async () => {
    const script = `import { startStrand } from 'strand'
const strand = await startStrand({ streams: 1 })
console.log(strand.url, (await fetch(strand.url + '/readyz')).status)`
    const { code, stdout, stderr } = await run(['node', '--input-type=module', '-e', script])
    const [url, status] = stdout.trim().split(' ')
    expect([code, status, stderr]).toEqual([0, '200', ''])
    for (;;) {
      const isGone = await fetch(`${url}/healthz`).then(
        () => false,
        () => true,
      )
      if (isGone) break
      await Bun.sleep(10)
    }
  })
})

describe('the examples of docs/testing-against-strand.md', () => {
  test("Node's runner, in Node", async () => {
    writeFileSync(join(folder, 'token.test.mjs'), example('node'))
    const { code, stdout } = await run(['node', '--test', '--test-reporter=tap', 'token.test.mjs'])
    expect([code, stdout.includes('# pass 1')]).toEqual([0, true])
  })

  test('Vitest, with the runner of Bun, which answers to its name', async () => {
    writeFileSync(join(folder, 'drops.test.js'), example('vitest'))
    const { code, stderr } = await run([process.execPath, 'test', './drops.test.js'])
    expect([code, stderr.match(/^ *(\d+) pass$/m)?.[1]]).toEqual([0, '2'])
  })

  test.skipIf(pytest === undefined)('pytest', async () => {
    for (const file of ['conftest.py', 'test_streams.py']) writeFileSync(join(folder, file), example(file))
    const { code, stdout } = await run([pytest ?? '', '-q', '-p', 'no:cacheprovider'])
    expect([code, stdout.includes('2 passed')]).toEqual([0, true])
  })

  test('the scenario is one', async () => {
    const [, text = ''] = /```json\n([\s\S]*?)```/.exec(guide) ?? []
    writeFileSync(join(folder, 'scenario.json'), text)
    const script = `import { startStrand } from 'strand'
const strand = await startStrand({ streams: 1, scenario: 'scenario.json' })
console.log(Object.keys(strand.world.scenario).length)
await strand.stop()`
    const { stdout, stderr } = await run(['node', '--input-type=module', '-e', script])
    expect([stdout, stderr]).toEqual(['11\n', ''])
  })
})
