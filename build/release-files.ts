import { createHash } from 'node:crypto'
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import manifest from '../package.json' with { type: 'json' }
import { licenseTexts } from './bundled-packages.ts'
import { execute, packingFolders, packPackages } from './pack.ts'
import { extractNotes } from './release-notes.ts'
import { repositoryPage } from './repository-page.ts'
import { createSbom } from './sbom.ts'

const ROOT = join(import.meta.dir, '..')
const VERSION = manifest.version

/** The platforms of the executables. */
export const PLATFORMS: readonly string[] = [
  'linux-x64',
  'linux-arm64',
  'darwin-x64',
  'darwin-arm64',
  'windows-x64',
]

export const OWN_PLATFORM: string = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`

/**
 * Writes the files of a release into a folder:
 *
 *   strand-server-<version>.tgz, strand-client-<version>.tgz     for npm
 *   strand-<version>-<platform>.tar.gz                           the executable, licenses, and the units of systemd
 *   strand-<version>.cdx.json                                    the bill of materials, as CycloneDX
 *   SHA256SUMS                                                   of all of these
 *   notes.md                                                     from CHANGELOG.md
 *
 * `run` is a folder for what it writes on the way.
 */
export async function writeReleaseFiles(
  out: string,
  { run, platforms }: { readonly run: string; readonly platforms: readonly string[] },
): Promise<void> {
  rmSync(out, { recursive: true, force: true })
  mkdirSync(out, { recursive: true })
  await Promise.all([packPackages(run), writeExecutables(out, { run, platforms })])
  cpSync(packingFolders(run).tarballs, out, { recursive: true })
  writeFileSync(
    join(out, `strand-${VERSION}.cdx.json`),
    `${JSON.stringify(createSbom(new Date()), null, 2)}\n`,
  )
  const lines = readdirSync(out)
    .sort()
    .map(name => `${hashFile(join(out, name))}  ${name}\n`)
  writeFileSync(join(out, 'SHA256SUMS'), lines.join(''))
  writeFileSync(join(out, 'notes.md'), readNotes().text)
}

export function readNotes() {
  const changelog = readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8')
  return extractNotes(changelog, VERSION, repositoryPage(manifest.repository.url))
}

function hashFile(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex')
}

async function writeExecutables(
  out: string,
  { run, platforms }: { run: string; platforms: readonly string[] },
) {
  for (const platform of platforms) await writeExecutable(out, { run, platform })
}

async function writeExecutable(out: string, { run, platform }: { run: string; platform: string }) {
  const name = `strand-${VERSION}-${platform}`
  const folder = join(run, name)
  const program = join(folder, platform.startsWith('windows') ? 'strand.exe' : 'strand')
  const build = [process.execPath, 'build/executable.ts', '--out', program]
  // Only the executable of this platform gets bytecode.
  if (platform !== OWN_PLATFORM)
    build.push('--target', platform, '--runtime', await fetchRuntime(run, platform))
  await execute(build, ROOT)
  cpSync(join(ROOT, 'LICENSE'), join(folder, 'LICENSE'))
  writeFileSync(join(folder, 'licenses.txt'), licenseTexts())
  if (platform.startsWith('linux'))
    cpSync(join(ROOT, 'deploy/systemd'), join(folder, 'deploy/systemd'), { recursive: true })
  await execute(['tar', '-czf', join(out, `${name}.tar.gz`), name], run)
}

/** The runtime of another platform: npm compares it with the integrity in package-lock.json. */
async function fetchRuntime(run: string, platform: string): Promise<string> {
  const folder = join(run, `runtime-${platform}`)
  mkdirSync(folder)
  for (const file of ['package.json', 'package-lock.json', '.npmrc'])
    cpSync(join(ROOT, file), join(folder, file))
  const [system = '', processor = ''] = platform.split('-')
  const words = [`--os=${system === 'windows' ? 'win32' : system}`, `--cpu=${processor}`, '--libc=glibc']
  await execute(['npm', 'ci', '--omit=dev', '--ignore-scripts', ...words], folder)
  const name = `bun-${platform.replace('arm64', 'aarch64')}`
  return join(folder, 'node_modules/@oven', name, 'bin', system === 'windows' ? 'bun.exe' : 'bun')
}
