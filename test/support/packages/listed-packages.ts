/** Packages from npm that tests run, in a folder beside those of Strand: they bring more than Strand has. */
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { sha256Hex } from '../../../src/kit/crypto/digest.ts'

/** Without install scripts: one of the listed packages reports every install. */
export const INSTALL_WORDS: readonly string[] = ['ci', '--ignore-scripts', '--no-audit', '--no-fund']

/**
 * Installs what the package-lock.json of a folder lists, without install scripts, unless it is there already. The files of
 * the folder are beside the packages. Undefined: npm could not install them.
 */
export async function installListed(listed: string): Promise<string | undefined> {
  const files = readdirSync(listed).sort()
  const content = files.map(file => readFileSync(join(listed, file), 'utf8')).join('')
  const name = `${basename(listed)}-${sha256Hex(content).slice(0, 16)}`
  const folder = join(process.cwd(), 'node_modules/.cache', name)
  if (!existsSync(folder)) await install(listed, files, folder)
  return existsSync(folder) ? folder : undefined
}

/** Installed beside its place and moved there when it is complete. */
async function install(listed: string, files: readonly string[], folder: string): Promise<void> {
  const npm = Bun.which('npm')
  if (npm === null) return
  process.stderr.write(`installing the packages of ${listed} with npm; this may take a minute\n`)
  const unfinished = `${folder}.${process.pid}`
  mkdirSync(unfinished, { recursive: true })
  for (const file of files) copyFileSync(join(listed, file), join(unfinished, file))
  const child = Bun.spawn([npm, ...INSTALL_WORDS], { cwd: unfinished, stdout: 'ignore', stderr: 'ignore' })
  if ((await child.exited) === 0 && !existsSync(folder)) renameSync(unfinished, folder)
  rmSync(unfinished, { recursive: true, force: true })
}
