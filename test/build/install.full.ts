/**
 * The package installed by Yarn, from a folder and from a git URL, and then used from Node. The examples install the tarball
 * with npm and pnpm.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { copyCheckout } from '../../build/copied-checkout.ts'
import { VERSION } from '../../src/config/version.ts'
import tools from '../package.json' with { type: 'json' }
import { ROOT } from '../support/cli/strand-process.ts'
import { packedTarball } from '../support/packages/packed.ts'

const YARN = '@yarnpkg/cli-dist@4.18.1'
const INSTALL_MILLISECONDS = 600_000

let folder = ''
let tarball = ''

async function run(cwd: string, words: readonly string[]) {
  const child = Bun.spawn([...words], { cwd, stdout: 'pipe', stderr: 'pipe' })
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  return { code: await child.exited, stdout, stderr }
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'strand-install-'))
  tarball = await packedTarball()
}, INSTALL_MILLISECONDS)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/**
 * A repository with the checkout as it is, also with changes that are not committed. In its clones it lists the packages that
 * npm has installed for the build.
 */
function createRepository(): string {
  const repository = join(folder, 'repository')
  copyCheckout(repository)
  const file = join(repository, 'package.json')
  const manifest = JSON.parse(readFileSync(file, 'utf8'))
  manifest.scripts.postprepare = `node -p "fs.readdirSync('node_modules').join()" > ${join(folder, 'packages')}`
  writeFileSync(file, JSON.stringify(manifest))
  const identity = ['-c', 'user.name=Strand', '-c', 'user.email=strand@example.org']
  for (const words of [
    ['init', '-q'],
    ['add', '.'],
    [...identity, 'commit', '-q', '-m', 'all'],
  ]) {
    const { exitCode, stderr } = Bun.spawnSync(['git', ...words], { cwd: repository })
    if (exitCode !== 0) throw new Error(stderr.toString())
  }
  return repository
}

const npx = (name: string) => ['npx', '--yes', '--package', name]
const PLUG_N_PLAY = { '.yarnrc.yml': 'nodeLinker: pnp\nenableTelemetry: false\n', 'yarn.lock': '' }
const ways: readonly {
  readonly name: string
  readonly install: () => readonly string[]
  readonly strand: readonly string[]
  /** Default: `node`. */
  readonly node?: readonly string[]
  readonly files?: Readonly<Record<string, string>>
}[] = [
  { name: 'npm, a folder', install: () => ['npm', 'install', '-D', ROOT], strand: ['npx', 'strand'] },
  {
    name: 'npm, a git URL',
    install: () => ['npm', 'install', '-D', `git+file://${createRepository()}`],
    strand: ['npx', 'strand'],
  },
  {
    name: 'Yarn with node_modules, a tarball',
    install: () => [...npx(YARN), 'yarn', 'add', '-D', tarball],
    strand: [...npx(YARN), 'yarn', 'strand'],
    files: { '.yarnrc.yml': 'nodeLinker: node-modules\nenableTelemetry: false\n', 'yarn.lock': '' },
  },
  {
    name: "Yarn with Plug'n'Play, a tarball",
    install: () => [...npx(YARN), 'yarn', 'add', '-D', tarball],
    strand: [...npx(YARN), 'yarn', 'strand'],
    node: [...npx(YARN), 'yarn', 'node'],
    files: PLUG_N_PLAY,
  },
]

describe('installed by', () => {
  for (const { name, install, strand, node = ['node'], files = {} } of ways) {
    test(
      name,
      async () => {
        const consumer = join(folder, name.replaceAll(/[^a-z]/gi, '-'))
        mkdirSync(consumer)
        const given = { 'package.json': '{"name":"consumer","type":"module"}', ...files }
        for (const [file, text] of Object.entries(given)) writeFileSync(join(consumer, file), text)
        const installed = await run(consumer, install())
        expect([installed.code, installed.code === 0 ? '' : installed.stdout + installed.stderr]).toEqual([
          0,
          '',
        ])
        expect(await run(consumer, [...strand, 'version'])).toMatchObject({ code: 0, stdout: `${VERSION}\n` })
        const script = `import { startStrand } from 'strand-server'
const strand = await startStrand({ streams: 1 })
console.log((await fetch(strand.url + '/readyz')).status)
await strand.stop()`
        writeFileSync(join(consumer, 'use.mjs'), script)
        const used = await run(consumer, [...node, 'use.mjs'])
        expect(used).toMatchObject({ code: 0, stdout: '200\n' })
      },
      INSTALL_MILLISECONDS,
    )
  }

  test('npm from a git URL needs the packages of the build, and none of tests and checks', () => {
    const installed = readFileSync(join(folder, 'packages'), 'utf8').trim().split(',')
    expect(installed).toContain('typescript')
    const needless = Object.keys(tools.devDependencies).map(name => name.split('/')[0] ?? '')
    expect(installed.filter(name => needless.includes(name))).toEqual([])
  })

  test(
    "Yarn with Plug'n'Play, in an archive: states what to do",
    async () => {
      const consumer = join(folder, 'plug-n-play')
      mkdirSync(consumer)
      const manifest = { name: 'consumer', dependenciesMeta: { 'strand-server': { unplugged: false } } }
      const given = { 'package.json': JSON.stringify(manifest), ...PLUG_N_PLAY }
      for (const [file, text] of Object.entries(given)) writeFileSync(join(consumer, file), text)
      await run(consumer, [...npx(YARN), 'yarn', 'add', '-D', tarball])
      const { code, stdout, stderr } = await run(consumer, [...npx(YARN), 'yarn', 'strand', 'version'])
      expect(code).not.toBe(0)
      expect(stdout + stderr).toContain(
        "the package strand-server is in an archive of Yarn's Plug'n'Play, which the runtime cannot read",
      )
    },
    INSTALL_MILLISECONDS,
  )
})
