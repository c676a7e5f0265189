/**
 * The projects in `examples`, installed from the packed tarballs and tested as their readers would. One is installed alone by
 * npm and one by pnpm, both without install scripts, and the others together as workspaces, with scripts: an install takes
 * longer than its tests. test/repo/examples.test.ts checks that each declares what it imports, which workspaces do not show.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { VERSION } from '../../src/config/version.ts'
import { ROOT } from '../support/cli/strand-process.ts'
import { packedTarball } from '../support/packages/packed.ts'

const TIMEOUT_MILLISECONDS = 300_000
const PNPM = ['npx', '--yes', '--package', 'pnpm@12.18.0', 'pnpm']
const NPM_INSTALL = ['npm', 'install', '--prefer-offline']

const ALONE = 'fulfilment'
const BY_PNPM = 'node-test'
const { TEST_PYTEST = '' } = process.env
const names = readdirSync(join(ROOT, 'examples'), { withFileTypes: true })
  .filter(entry => entry.isDirectory())
  .map(({ name }) => name)
const together = names.filter(name => name !== ALONE && name !== BY_PNPM)

let folder = ''
/** The tarball for each path that the manifests of the examples have. */
let tarballs: readonly (readonly [path: string, tarball: string])[] = []
let workspaces: Promise<void> | undefined

async function run(cwd: string, words: readonly string[]): Promise<string> {
  const child = Bun.spawn([...words], {
    cwd,
    env: {
      ...process.env,
      NO_COLOR: '1',
      // Python must be the one that has pytest.
      PATH: [...(TEST_PYTEST ? [dirname(TEST_PYTEST)] : []), process.env.PATH].join(delimiter),
    },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const output = (
    await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  ).join('\n')
  const code = await child.exited
  if (code !== 0) throw new Error(`${words.join(' ')} exited with ${code}:\n${output}`)
  return output
}

/** A copy of an example in this folder, which gets Strand from the tarballs. */
function copy(name: string, parent: string): string {
  const target = join(parent, name)
  cpSync(join(ROOT, 'examples', name), target, {
    recursive: true,
    filter: source => !source.endsWith('node_modules') && !source.endsWith('package-lock.json'),
  })
  const manifest = join(target, 'package.json')
  const text = tarballs.reduce(
    (text, [path, tarball]) => text.replaceAll(`"file:${path}"`, `"file:${tarball}"`),
    readFileSync(manifest, 'utf8'),
  )
  writeFileSync(manifest, text)
  return target
}

async function installTogether(): Promise<void> {
  const parent = join(folder, 'together')
  mkdirSync(parent)
  for (const name of together) copy(name, parent)
  // The runtime of the example for Bun needs its install script, and npm reads which it may run from here only.
  const manifest = { private: true, workspaces: ['*'], allowScripts: { bun: true } }
  writeFileSync(join(parent, 'package.json'), JSON.stringify(manifest))
  await run(parent, NPM_INSTALL)
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'strand-examples-'))
  tarballs = [
    ['../..', await packedTarball()],
    ['../../packages/client', await packedTarball('strand-client')],
  ]
  // Awaited by each test; the first ones run in the meantime.
  workspaces = installTogether()
  workspaces.catch(() => undefined)
}, TIMEOUT_MILLISECONDS)
afterAll(async () => {
  await workspaces?.catch(() => undefined)
  rmSync(folder, { recursive: true, force: true })
})

/** Every runner prints how many tests passed, each in another way. */
const SOME_PASSED = /\b[1-9]\d* pass(ed)?\b|^# pass [1-9]|^ℹ pass [1-9]/m

describe('examples', () => {
  test(
    `${ALONE}, installed by npm alone`,
    async () => {
      const target = copy(ALONE, folder)
      await run(target, [...NPM_INSTALL, '--ignore-scripts'])
      expect(await run(target, ['npx', '--no-install', 'strand', 'version'])).toContain(`${VERSION}\n`)
      expect(await run(target, ['npm', 'test'])).toMatch(SOME_PASSED)
    },
    TIMEOUT_MILLISECONDS,
  )

  test(
    `${BY_PNPM}, installed by pnpm`,
    async () => {
      const target = copy(BY_PNPM, folder)
      await run(target, [...PNPM, 'install', '--ignore-scripts', '--prefer-offline'])
      expect(await run(target, [...PNPM, 'exec', 'strand', 'version'])).toContain(`${VERSION}\n`)
      expect(await run(target, [...PNPM, 'test'])).toMatch(SOME_PASSED)
    },
    TIMEOUT_MILLISECONDS,
  )

  for (const name of together) {
    test.skipIf(name === 'pytest' && TEST_PYTEST === '')(
      name,
      async () => {
        await workspaces
        expect(await run(join(folder, 'together', name), ['npm', 'test'])).toMatch(SOME_PASSED)
      },
      TIMEOUT_MILLISECONDS,
    )
  }
})
