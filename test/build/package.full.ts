/**
 * The package as npm packs it, installed by npm in an empty folder and used there. The folder that it was built in is gone.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import {
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import manifest from '../../package.json' with { type: 'json' }
import { VERSION } from '../../src/config/version.ts'
import { CLIP_NAMES } from '../../src/demo/clips.ts'
import { endAllProcesses, ROOT, StrandProcess } from '../support/cli/strand-process.ts'
import { BUILD_FOLDER, packedTarball } from '../support/packages/packed.ts'

const guide = readFileSync(join(ROOT, 'docs/testing-against-strand.md'), 'utf8')
const pytest = process.env.TEST_PYTEST || undefined

const NEWEST = [join(ROOT, 'node_modules/.bin/tsc')]
/** The oldest compiler that the types support. */
const OLDEST = ['npx', '--yes', '--package', 'typescript@5.2.2', 'tsc']
/** What the example imports. */
const VITEST = `export declare function beforeAll(prepare: () => Promise<void>): void
export declare function afterAll(clean: () => Promise<void>): void
export declare function afterEach(clean: () => Promise<void>): void
export declare function test(name: string, body: () => Promise<void>): void
export declare function expect(value: unknown): { toBe(other: unknown): void; toEqual(other: unknown): void; toContainEqual(other: unknown): void }
`

/** Most of it is bytecode; the clips of the demo do not compress. */
const MAX_PACKED_BYTES = 5_000_000
const MAX_CLIP_BYTES = 1_000_000
/** The runtime has 107 MB. */
const MAX_INSTALLED_BYTES = 130_000_000
const INSTALL_MILLISECONDS = 300_000

let folder = ''
let tarball = ''
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
  tarball = await packedTarball()
  packed = Bun.spawnSync(['tar', '-tzf', tarball])
    .stdout.toString()
    .trim()
    .split('\n')
    .map(line => line.replace(/^package\//, ''))
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'consumer', type: 'module' }))
  const installed = await run(['npm', 'install', tarball])
  expect([installed.code, installed.code === 0 ? '' : installed.stderr]).toEqual([0, ''])
}, INSTALL_MILLISECONDS)
afterEach(endAllProcesses)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('the package', () => {
  test('has what it exports and the documents that programs read, and neither tests nor an executable', () => {
    const targets = Object.values(manifest.exports).flatMap(each =>
      typeof each === 'string' ? [each] : Object.values(each).flatMap(way => Object.values(way)),
    )
    for (const target of targets) expect(packed).toContain(target.replace('./', ''))
    for (const file of [
      'LICENSE',
      'README.md',
      'docs/monitoring/grafana-dashboard.json',
      'docs/reference/scenario.schema.json',
      'docs/scenarios/drops.json',
      'bin/strand.js',
      'dist/program/main.js',
    ]) {
      expect(packed).toContain(file)
    }
    expect(
      packed.filter(file => /\.test\.ts$|^test\/|^examples\/|^bench\/|^rig\/|^dist\/strand$/.test(file)),
    ).toEqual([])
    // The launcher would run them.
    expect(packed.filter(file => /^(src|build)\//.test(file))).toEqual([])
  })

  test('is small, and so is what it installs', () => {
    expect(statSync(tarball).size).toBeLessThanOrEqual(MAX_PACKED_BYTES)
    const clips = join(folder, 'node_modules/strand-server/dist/program')
    const clipBytes = readdirSync(clips)
      .filter(name => name.endsWith('.mp4'))
      .map(name => statSync(join(clips, name)).size)
    expect(clipBytes).toHaveLength(CLIP_NAMES.length)
    expect(clipBytes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(MAX_CLIP_BYTES)
    const modules = join(folder, 'node_modules')
    const names = readdirSync(modules).filter(name => !name.startsWith('.'))
    expect(names.sort()).toEqual(['@oven', 'bun', 'strand-server'])
    // The runtime has two names in its folder.
    const sizes = new Map(
      readdirSync(modules, { recursive: true, encoding: 'utf8' })
        .map(name => lstatSync(join(modules, name)))
        .filter(each => each.isFile())
        .map(({ ino, size }) => [ino, size]),
    )
    expect([...sizes.values()].reduce((sum, size) => sum + size, 0)).toBeLessThan(MAX_INSTALLED_BYTES)
  })

  test('has a package.json without scripts, without what only a checkout needs, and with the addresses of the repository', () => {
    const installed = JSON.parse(
      readFileSync(join(folder, 'node_modules/strand-server/package.json'), 'utf8'),
    )
    const { scripts, devDependencies, workspaces, overrides, allowScripts, ...others } = manifest
    const page = manifest.repository.url.slice('git+'.length, -'.git'.length)
    expect(installed).toEqual({ ...others, bugs: `${page}/issues`, homepage: `${page}#readme` })
  })

  test('contains no path of the machine that built it', () => {
    expect(existsSync(BUILD_FOLDER)).toBe(false)
    const home = join(folder, 'node_modules/strand-server')
    const files = readdirSync(home, { recursive: true, encoding: 'utf8' }).filter(name =>
      statSync(join(home, name)).isFile(),
    )
    expect(files).toContain('dist/program/main.js.jsc')
    expect(files.filter(name => readFileSync(join(home, name)).includes(BUILD_FOLDER))).toEqual([])
  })

  test('npx runs the command by its name and by the name of the package', async () => {
    for (const name of ['strand-server', 'strand']) {
      const { code, stdout } = await run(['npx', '--no-install', name, 'version'])
      expect([name, code, stdout]).toEqual([name, 0, `${VERSION}\n`])
    }
  })

  test('npx runs it where it is not installed', async () => {
    const empty = mkdtempSync(join(tmpdir(), 'strand-npx-'))
    // npx takes an absolute path for a program.
    for (const words of [[relative(empty, tarball)], ['--package', tarball, 'strand']]) {
      const child = Bun.spawn(['npx', '--yes', ...words, 'version'], { cwd: empty, stdout: 'pipe' })
      expect([await child.stdout.text(), await child.exited]).toEqual([`${VERSION}\n`, 0])
    }
    expect(readdirSync(empty)).toEqual([])
    rmSync(empty, { recursive: true })
  })

  test('npx strand openapi prints the public document, and all with --control', async () => {
    for (const [flags, hasControl] of [
      [[], false],
      [['--control'], true],
    ] as const) {
      const { stdout } = await run(['npx', '--no-install', 'strand', 'openapi', ...flags])
      const { openapi, paths } = JSON.parse(stdout) as { openapi: string; paths: Record<string, unknown> }
      expect([openapi, '/helix/streams' in paths, '/control/users' in paths]).toEqual([
        '3.1.0',
        true,
        hasControl,
      ])
    }
  })

  test('runs with the bytecode of another runtime, with a part of it, and without', async () => {
    const version = () => run(['npx', '--no-install', 'strand', 'version'])
    const bytecode = join(folder, 'node_modules/strand-server/dist/program/main.js.jsc')
    const built = readFileSync(bytecode)
    for (const change of [
      () => writeFileSync(bytecode, Buffer.from(built).fill(1, 0, 8)),
      () => writeFileSync(bytecode, built.subarray(0, built.length / 2)),
      () => rmSync(bytecode),
    ]) {
      change()
      expect(await version()).toMatchObject({ code: 0, stdout: `${VERSION}\n` })
    }
    writeFileSync(bytecode, built)
  })

  test('what it exports can be imported from Node, and required', async () => {
    for (const door of ['strand-server', 'strand-server/client']) {
      const script = `import { createRequire } from 'node:module'
const required = createRequire(process.cwd() + '/use.cjs')('${door}')
const imported = await import('${door}')
console.log(Object.keys(imported).sort().join() === Object.keys(required).sort().join(), Object.keys(imported).length > 0)`
      expect(await run(['node', '--input-type=module', '-e', script])).toMatchObject({
        code: 0,
        stdout: 'true true\n',
      })
    }
  })

  test('publint and attw find nothing', async () => {
    for (const [name = '', ...flags] of [
      ['publint', '--strict'],
      ['attw', '--quiet'],
    ]) {
      const { code, stdout } = await run([join(ROOT, 'node_modules/.bin', name), ...flags, tarball])
      expect([name, code, code === 0 ? '' : stdout]).toEqual([name, 0, ''])
    }
  })

  test('is typed, for every way of resolving, with the oldest and the newest compiler', async () => {
    writeFileSync(
      join(folder, 'use.ts'),
      `import { type RunningStrand, startStrand, type World } from 'strand-server'
import { type Client, createClient } from 'strand-server/client'
export const make: (options: Parameters<typeof createClient>[0]) => Client = createClient
// @ts-expect-error: there is no such option
export const wrong: Parameters<typeof createClient>[0] = { nothing: 1 }
const strand: RunningStrand = await startStrand({ clock: new Date(), scenario: { tokens: { old: { state: 'expired' } } } })
const world: World = strand.world
export const token: string = world.scenario.old.token
await strand.faults.plan({ operation: 'GetStreams', outcome: 'slow', milliseconds: 5 })
// @ts-expect-error: there is no such state
await startStrand({ scenario: { tokens: { old: { state: 'stale' } } } })
// @ts-expect-error: there is no such operation
await strand.faults.plan({ operation: 'GetStreemz', outcome: 'slow' })
`,
    )
    writeFileSync(
      join(folder, 'use.cts'),
      "import strand = require('strand-server')\nexport = strand.startStrand\n",
    )
    writeFileSync(join(folder, 'drops.ts'), example('vitest').replace("'vitest'", "'./vitest.js'"))
    writeFileSync(join(folder, 'vitest.d.ts'), VITEST)
    const node16 = ['--module', 'node16', '--moduleResolution', 'node16']
    const ways = [
      [NEWEST, node16],
      [NEWEST, ['--module', 'nodenext', '--moduleResolution', 'nodenext']],
      [NEWEST, ['--module', 'esnext', '--moduleResolution', 'bundler']],
      [OLDEST, node16],
    ] as const
    const words = ['--noEmit', '--strict', '--skipLibCheck', 'false', '--target', 'es2022']
    for (const [tsc, way] of ways) {
      const files = way[1] === 'esnext' ? ['use.ts', 'drops.ts'] : ['use.ts', 'drops.ts', 'use.cts']
      const { code, stdout } = await run([...tsc, ...words, '--lib', 'es2022,dom', ...way, ...files])
      expect([way[1], code, stdout]).toEqual([way[1], 0, ''])
    }
  })

  test('its types import nothing from other packages', () => {
    const types = packed.filter(file => file.startsWith('dist/types'))
    expect(types.length).toBeGreaterThan(10)
    for (const file of types) {
      const text = readFileSync(join(folder, 'node_modules/strand-server', file), 'utf8')
      const code = text.replaceAll(/\/\*.*?\*\//gs, '')
      for (const [, target] of code.matchAll(/from ['"]([^'"]+)['"]/g))
        expect(target).toMatch(/^\.\.?\/.*\.js$/)
    }
  })

  test('serves the demo, which plays, and its site with scripts and style sheets', async () => {
    const command = [join(folder, 'node_modules/.bin/strand')]
    const words = ['demo', '--port', '0', '--no-rtmp', '--streams', '3', '--json']
    const demo = new StrandProcess(words, { command, cwd: folder })
    const { base_url } = JSON.parse(await demo.until(({ stdout }) => stdout.endsWith('\n') && stdout)) as {
      base_url: string
    }
    const page = await (await fetch(base_url, { headers: { Accept: 'text/html' } })).text()
    const assets = [...page.matchAll(/"(\/assets\/[^"]+\.(?:js|css))"/g)].map(([, path = '']) => path)
    expect(assets.length).toBeGreaterThan(2)
    for (const path of assets) expect([path, (await fetch(base_url + path)).status]).toEqual([path, 200])
    const { data } = (await (await fetch(`${base_url}/helix/streams`)).json()) as {
      data: { user_login: string }[]
    }
    for (const { user_login } of data) {
      const playlist = `${base_url}/live/${user_login}.m3u8`
      const media = new URL((await (await fetch(playlist)).text()).trim().split('\n').at(-1) ?? '', playlist)
      expect((await (await fetch(new URL('0.m4s', media))).bytes()).length).toBeGreaterThan(10_000)
    }
    expect(data).toHaveLength(3)
    await demo.end('SIGTERM')
  })

  test('makes a backup, verifies and restores it', async () => {
    const strand = (...words: string[]) => run(['strand', ...words])
    for (const words of [
      ['migrate', '--data', 'data'],
      ['user', 'create', 'plucky_jackal', '--data', 'data'],
      ['backup', '--data', 'data', '--unsealed', 'backup.tar'],
      ['verify', 'backup.tar'],
      ['restore', 'backup.tar', '--data', 'restored', '--yes'],
    ]) {
      const { code, stderr } = await strand(...words)
      expect([words, code, code === 0 ? '' : stderr]).toEqual([words, 0, ''])
    }
    expect((await strand('user', 'list', '--data', 'restored')).stdout).toContain('plucky_jackal')
  })

  test('Bun runs a server in the same process', async () => {
    const script = `import { startStrand } from 'strand-server'
const strand = await startStrand({ streams: 1, mode: 'process' })
console.log((await fetch(strand.url + '/readyz')).status)
await strand.stop()`
    writeFileSync(join(folder, 'in-process.ts'), script)
    expect(await run([process.execPath, 'in-process.ts'])).toEqual({ code: 0, stdout: '200\n', stderr: '' })
  })

  test('CommonJS starts a server, too', async () => {
    const script = `const { startStrand } = require('strand-server')
startStrand({ streams: 1 }).then(async strand => {
  console.log((await fetch(strand.url + '/readyz')).status)
  await strand.stop()
})`
    expect(await run(['node', '--input-type=commonjs', '-e', script])).toEqual({
      code: 0,
      stdout: '200\n',
      stderr: '',
    })
  })

  test('a child of Node serves when startStrand resolves, and ends with Node', async () => {
    const script = `import { startStrand } from 'strand-server'
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
    for (const mark of ['node', 'node-requests', 'node-campaigns', 'node-attach', 'node-intercept']) {
      writeFileSync(join(folder, 'token.test.mjs'), example(mark))
      const { code, stdout } = await run(['node', '--test', '--test-reporter=tap', 'token.test.mjs'])
      expect([mark, code, stdout.includes('# pass 1')]).toEqual([mark, 0, true])
    }
  })

  test('Vitest, with the runner of Bun, which answers to its name', async () => {
    writeFileSync(join(folder, 'drops.test.ts'), example('vitest'))
    const { code, stderr } = await run([process.execPath, 'test', './drops.test.ts'])
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
    const script = `import { startStrand } from 'strand-server'
const strand = await startStrand({ streams: 1, scenario: 'scenario.json' })
console.log(Object.keys(strand.world.scenario).length)
await strand.stop()`
    const { stdout, stderr } = await run(['node', '--input-type=module', '-e', script])
    expect([stdout, stderr]).toEqual(['12\n', ''])
  })
})
