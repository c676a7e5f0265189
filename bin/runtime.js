// Finds the Bun that npm installed beside Strand and runs a program in it: the machine itself needs only Node.
// CommonJS, which Node loads faster than ES modules; what only some starts need is required there.
const { existsSync, readFileSync, statSync } = require('node:fs')
const { createRequire } = require('node:module')
const { dirname, join, resolve } = require('node:path')

const PACKAGE = dirname(__dirname)
/** Until Bun's install script has run, a short text stands in the program's place. */
const SMALLEST_PROGRAM_BYTES = 1_000_000
/** How often a launcher that npm started looks whether npm is still there. */
const PARENT_MILLISECONDS = 250
const STOP_MILLISECONDS = 20_000
/**
 * The allocator of the runtime gives freed memory back to the system after ten seconds instead of ten milliseconds: a server
 * needs it again after the next requests, and getting it from the system takes longer (ADR 0049).
 */
const ALLOCATOR = { MIMALLOC_PURGE_DELAY: '10000' }

/**
 * The path of Bun's program. Its package puts the program into place with an install script; package managers that run no
 * such scripts leave it in the package of this system, which they have installed all the same.
 */
function findBun(from) {
  requireUnpacked('strand-server', PACKAGE)
  const manifest = createRequire(from).resolve('bun/package.json')
  const place = join(dirname(manifest), 'bin', 'bun.exe')
  if (isProgram(place)) return requireUnpacked('bun', place)
  const nearBun = createRequire(manifest)
  const program = process.platform === 'win32' ? 'bun.exe' : 'bun'
  for (const name of systemPackages()) {
    let other
    try {
      other = join(dirname(nearBun.resolve(`${name}/package.json`)), 'bin', program)
    } catch {
      // Not installed: packages for other systems never are.
      continue
    }
    if (isProgram(other)) return requireUnpacked(name, other)
  }
  throw new Error(
    `the runtime is missing: install the package ${systemPackages()[0]}, an optional dependency of bun`,
  )
}

/**
 * Yarn's Plug'n'Play keeps packages in archives unless they ask for a folder, as this one and Bun's do. Only Node can read
 * files in an archive.
 */
function requireUnpacked(name, place) {
  if (process.versions.pnp === undefined || !/\.zip[\\/]/.test(place)) return place
  throw new Error(
    `the package ${name} is in an archive of Yarn's Plug'n'Play, which the runtime cannot read: set "dependenciesMeta": { "${name}": { "unplugged": true } } in the package.json of your project and install again`,
  )
}

function isProgram(place) {
  const { size = 0 } = statSync(place, { throwIfNoEntry: false }) ?? {}
  return size > SMALLEST_PROGRAM_BYTES
}

/** The report of the process takes a while, so only those without the program in its place ask for it. */
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
function bunWords(folder = PACKAGE) {
  return [
    `--config=${join(folder, 'bin', 'bunfig.toml')}`,
    `--tsconfig-override=${join(folder, 'tsconfig.json')}`,
    '--no-env-file',
    '--no-install',
  ]
}

/** The program: the sources in a checkout, the bundle in the package, which has no sources. */
function programFile(folder = PACKAGE) {
  const sources = join(folder, 'src', 'main.ts')
  return existsSync(sources) ? sources : join(folder, 'dist', 'program', 'main.js')
}

/**
 * Runs a program of this package in Bun, in place of this process: signals are passed on, and the exit code is the
 * program's. With `ipc` the program hears when this process is gone, however it went.
 */
function runInBun(file, words, { ipc }) {
  const { spawn } = require('node:child_process')
  const child = spawn(bunOrExit(), [...bunWords(), resolve(PACKAGE, file), ...words], {
    stdio: ipc ? ['inherit', 'inherit', 'inherit', 'ipc'] : 'inherit',
    env: { ...ALLOCATOR, ...process.env },
  })
  // A terminal sends Ctrl-C to both, kill to this process alone. The program takes two signals within half a second as one.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('error', error => {
    process.stderr.write(`strand: the runtime cannot be started: ${error.message}\n`)
    process.exit(1)
  })
  child.on('exit', (code, signal) => process.exit(code ?? 128 + numberOf(signal)))
  if (process.env.npm_lifecycle_event !== undefined) endWithParent(child)
}

const numberOf = signal => require('node:os').constants.signals[signal] ?? 0

function bunOrExit() {
  try {
    return findBun(__filename)
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

module.exports = { ALLOCATOR, bunWords, findBun, programFile, runInBun }
