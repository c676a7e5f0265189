/**
 * The files of a release: those that `npm run release` has written and runs this with, or else those of this checkout. The
 * lines of README start the package and the executable in empty folders.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { bundledPackages, licenseTexts, TYPEFACE } from '../../build/bundled-packages.ts'
import { executableEntries } from '../../build/program-bundle.ts'
import { OWN_PLATFORM, readNotes, writeReleaseFiles } from '../../build/release-files.ts'
import { VERSION } from '../../src/config/version.ts'
import { endAllProcesses, ROOT, StrandProcess } from '../support/cli/strand-process.ts'
import { installListed } from '../support/packages/listed-packages.ts'

const TOOLS = join(import.meta.dirname, 'tools')
const WRITE_MILLISECONDS = 120_000
const INSTALL_MILLISECONDS = 300_000

const readme = readFileSync(join(ROOT, 'README.md'), 'utf8')
const archive = `strand-${VERSION}-${OWN_PLATFORM}`
let run = ''
let out = ''

beforeAll(async () => {
  run = mkdtempSync(join(tmpdir(), 'strand-release-'))
  const { TEST_RELEASE } = process.env
  out = TEST_RELEASE ?? join(run, 'out')
  if (TEST_RELEASE === undefined) await writeReleaseFiles(out, { run, platforms: [OWN_PLATFORM] })
}, WRITE_MILLISECONDS)
afterEach(endAllProcesses)
afterAll(() => rmSync(run, { recursive: true, force: true }))

function emptyFolder(name: string): string {
  const folder = join(run, name)
  mkdirSync(folder)
  return folder
}

async function execute(words: readonly string[], cwd: string): Promise<string> {
  const child = Bun.spawn([...words], { cwd, stdout: 'pipe', stderr: 'pipe' })
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()])
  expect([words, await child.exited, stderr]).toEqual([words, 0, expect.any(String)])
  return stdout
}

/** The line of README that begins like this and starts a demo, on a free port. Its first call is answered. */
async function startsDemo(beginning: string, cwd: string): Promise<void> {
  const lines = readme.split('\n')
  expect(lines).toContain(`${beginning} demo`)
  const call = lines.find(line => line.startsWith('curl ')) ?? ''
  const command = ['bash', '-c', `exec ${beginning} demo "$@"`, 'bash']
  const demo = new StrandProcess(['--port', '0', '--no-rtmp', '--json'], { command, cwd })
  const { base_url } = JSON.parse(await demo.until(({ stdout }) => stdout.endsWith('\n') && stdout)) as {
    base_url: string
  }
  const answer = await execute(
    ['bash', '-c', `${call.replace('http://localhost:8080', base_url)} --fail`],
    cwd,
  )
  expect(JSON.parse(answer).data).toHaveLength(3)
  await demo.end('SIGTERM')
}

describe('the files of a release', () => {
  test('are packages, executables, a bill of materials, the checksums of all, and notes', () => {
    const lines = readFileSync(join(out, 'SHA256SUMS'), 'utf8').trim().split('\n')
    const sums = Object.fromEntries(lines.map(line => line.split('  ').reverse()))
    const names = readdirSync(out).filter(name => !['SHA256SUMS', 'notes.md'].includes(name))
    expect(Object.keys(sums).sort()).toEqual(names.sort())
    for (const name of names) {
      const hash = Bun.CryptoHasher.hash('sha256', readFileSync(join(out, name)), 'hex')
      expect([name, sums[name]]).toEqual([name, hash])
    }
    for (const name of [
      ...[`strand-server-${VERSION}.tgz`, `strand-client-${VERSION}.tgz`],
      ...[`${archive}.tar.gz`, `strand-${VERSION}.cdx.json`],
    ])
      expect(names).toContain(name)
  })

  test(
    'the package starts with the line of README',
    async () => {
      const folder = emptyFolder('package')
      const tarball = join(out, `strand-server-${VERSION}.tgz`)
      await execute(['npm', 'install', '--prefer-offline', tarball], folder)
      await startsDemo('npx strand-server', folder)
    },
    INSTALL_MILLISECONDS,
  )

  test('the executable starts with the line of README, and has licenses and units beside it', async () => {
    const folder = emptyFolder('executable')
    await execute(['tar', '-xzf', join(out, `${archive}.tar.gz`)], folder)
    expect(readdirSync(folder)).toEqual([archive])
    const home = join(folder, archive)
    const names = readdirSync(home, { recursive: true, encoding: 'utf8' }).filter(name =>
      /\w\.\w|^[a-zA-Z]+$/.test(name),
    )
    expect(names.sort()).toEqual(
      [
        ...['LICENSE', 'deploy', 'licenses.txt', 'strand'],
        ...readdirSync(join(ROOT, 'deploy/systemd')).map(name => `deploy/systemd/${name}`),
      ].sort(),
    )
    expect(readFileSync(join(home, 'licenses.txt'), 'utf8')).toBe(licenseTexts())
    expect(await execute(['./strand', 'version'], home)).toBe(`${VERSION}\n`)
    await startsDemo('./strand', home)
  })

  test('the notes are those of the version, and their links lead to the files of its tag', () => {
    const notes = readFileSync(join(out, 'notes.md'), 'utf8')
    expect(notes).toBe(readNotes().text)
    expect(notes).toContain(`/blob/v${VERSION}/docs/compatibility.md)`)
    expect(notes.match(/\]\((?!https:)/g)).toBeNull()
  })
})

describe('the bill of materials', () => {
  const read = () => readFileSync(join(out, `strand-${VERSION}.cdx.json`), 'utf8')

  test(
    'is valid CycloneDX',
    async () => {
      const tools = await installListed(TOOLS)
      expect(tools).toBeDefined()
      const library = Bun.resolveSync('@cyclonedx/cyclonedx-library', tools ?? '')
      const script = `import cyclonedx from ${JSON.stringify(pathToFileURL(library).href)}
const { Spec, Validation } = cyclonedx
const validator = new Validation.JsonStrictValidator(Spec.Version.v1dot6)
const [given] = [JSON.parse(process.argv[1])]
const wrong = { ...given, components: [{ name: 'without a type' }] }
const faults = async bom => (await validator.validate(JSON.stringify(bom))) ?? undefined
console.log(JSON.stringify([(await faults(given)) === undefined, (await faults(wrong)) === undefined]))`
      expect(await execute(['node', '--input-type=module', '-e', script, read()], tools ?? '')).toBe(
        '[true,false]\n',
      )
    },
    INSTALL_MILLISECONDS,
  )

  test('names the runtime, the typeface, and every package that the build puts into program and site', async () => {
    const { outputs, metafile } = await Bun.build({
      ...(await executableEntries(ROOT)),
      metafile: true,
    })
    expect(outputs.length).toBeGreaterThan(0)
    const inputs = Object.keys(metafile?.inputs ?? {}).map(
      file => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1],
    )
    const browser = ['hls.js', 'uplot']
    const names = new Set([...inputs.filter(name => name !== undefined), ...browser, 'bun'])
    expect(bundledPackages().map(({ name }) => name)).toEqual([...names].sort())
    const { components } = JSON.parse(read()) as { components: { name: string; version: string }[] }
    const listed = [...bundledPackages(), TYPEFACE].map(({ name, version }) => [name, version])
    expect(components.map(({ name, version }) => [name, version])).toEqual(listed)
    const fonts = readFileSync(join(ROOT, 'src/site/fonts/README.md'), 'utf8')
    expect(fonts).toContain(`\`${TYPEFACE.name}\` ${TYPEFACE.version}`)
  })

  test('the package has the license texts too', async () => {
    const tarball = join(out, `strand-server-${VERSION}.tgz`)
    const text = await execute(['tar', '-xzOf', tarball, 'package/dist/licenses.txt'], run)
    expect(text).toBe(licenseTexts())
    for (const { name, version } of bundledPackages()) expect(text).toContain(`${name} ${version} (`)
  })
})
