// Finds the Bun that npm installed beside Strand and runs a program in it: the machine itself needs only Node.
import { spawn } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { constants } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const PACKAGE = join(dirname(fileURLToPath(import.meta.url)), '..')
/** Until Bun's install script has run, a short text stands in the program's place. */
const SMALLEST_PROGRAM_BYTES = 1_000_000
/** How often a launcher that npm started looks whether npm is still there. */
const PARENT_MILLISECONDS = 250
const STOP_MILLISECONDS = 20_000

/**
 * The path of Bun's program. Its package puts the program into place with an install script; package managers that run no
 * such scripts leave it in the package of this system, which they have installed all the same.
 */
export function findBun(from) {
  if (process.versions.pnp !== undefined) {
    throw new Error(
      "Yarn's Plug'n'Play keeps packages in archives, which the runtime cannot read: set nodeLinker to node-modules in .yarnrc.yml and install again",
    )
  }
  const manifest = createRequire(from).resolve('bun/package.json')
  const nearBun = createRequire(manifest)
  const program = process.platform === 'win32' ? 'bun.exe' : 'bun'
  const places = [
    () => join(dirname(manifest), 'bin', 'bun.exe'),
    ...systemPackages().map(
      name => () => join(dirname(nearBun.resolve(`${name}/package.json`)), 'bin', program),
    ),
  ]
  for (const placeOf of places) {
    try {
      const place = placeOf()
      if (statSync(place).size > SMALLEST_PROGRAM_BYTES) return place
    } catch {
      // Not installed: packages for other systems never are.
    }
  }
  throw new Error(
    `the runtime is missing: install the package ${systemPackages()[0]}, an optional dependency of bun`,
  )
}

function systemPackages() {
  const { platform, arch } = process
  const processor = arch === 'arm64' ? 'aarch64' : arch
  if (platform === 'win32') return [`@oven/bun-windows-${processor}`]
  const name = `@oven/bun-${platform}-${processor}`
  if (platform !== 'linux') return [name]
  const report = process.report?.getReport()
  return report?.header?.glibcVersionRuntime === undefined ? [`${name}-musl`, name] : [name, `${name}-musl`]
}

/**
 * Words for Bun before the program's own. Nothing is taken from the current folder: a bunfig.toml or tsconfig.json there
 * could load code, an .env could change settings, and missing packages would be fetched. The tsconfig.json of this package
 * defines what JSX means.
 */
export function bunWords(folder = PACKAGE) {
  return [
    `--config=${join(folder, 'bin', 'bunfig.toml')}`,
    `--tsconfig-override=${join(folder, 'tsconfig.json')}`,
    '--no-env-file',
    '--no-install',
  ]
}

/**
 * Runs a program of this package in Bun, in place of this process: signals are passed on, and the exit code is the
 * program's. With `ipc` the program hears when this process is gone, however it went.
 */
export function runInBun(file, words, { ipc }) {
  const child = spawn(bunOrExit(), [...bunWords(), join(PACKAGE, file), ...words], {
    stdio: ipc ? ['inherit', 'inherit', 'inherit', 'ipc'] : 'inherit',
  })
  // A terminal sends Ctrl-C to both, kill to this process alone. The program takes two signals within half a second as one.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('error', error => {
    process.stderr.write(`strand: the runtime cannot be started: ${error.message}\n`)
    process.exit(1)
  })
  child.on('exit', (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)))
  if (process.env.npm_lifecycle_event !== undefined) endWithParent(child)
}

function bunOrExit() {
  try {
    return findBun(import.meta.url)
  } catch (error) {
    process.stderr.write(`strand: ${error.message}\n`)
    return process.exit(1)
  }
}

/**
 * npm and npx run a command in a shell. They pass SIGTERM to that shell, which does not pass it on, and a SIGKILL to nobody.
 * Whoever ends npm means the program: it ends when the shell is gone, or when the shell has lost npm.
 */
function endWithParent(child) {
  const parent = process.ppid
  const grandparent = parentOf(parent)
  const watch = setInterval(() => {
    if (process.ppid === parent && parentOf(parent) === grandparent) return
    clearInterval(watch)
    child.kill('SIGTERM')
    setTimeout(() => child.kill('SIGKILL'), STOP_MILLISECONDS).unref()
  }, PARENT_MILLISECONDS)
  watch.unref()
}

/** Undefined where the system does not say, which is everywhere but on Linux. */
function parentOf(pid) {
  try {
    const [, afterName = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(/\) (?=[^)]*$)/)
    return afterName.split(' ')[1]
  } catch {
    return undefined
  }
}
