/** `bin/strand.js` and `bin/run.js`: what the installed command and the scripts of package.json start from Node. */
import { afterEach, describe, expect, test } from 'bun:test'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { VERSION } from '../../src/config/version.ts'
import { endAllProcesses, ROOT, StrandProcess } from '../support/cli/strand-process.ts'
import { hasPostgres, onNewDatabase, removeDatabases } from '../support/store/databases.ts'
import { freePort } from '../support/store/postgres.ts'

const folders: string[] = []
afterEach(async () => {
  await endAllProcesses()
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

function emptyFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'strand-launcher-'))
  folders.push(folder)
  return folder
}

const NODE = Bun.which('node') ?? 'node'
const LAUNCHER = join(ROOT, 'bin/strand.js')

describe('nothing is taken from the current folder', () => {
  test('neither code that a bunfig.toml or tsconfig.json names, nor settings of an .env', async () => {
    const cwd = emptyFolder()
    writeFileSync(join(cwd, 'bunfig.toml'), 'preload = ["./preload.ts"]\n')
    writeFileSync(join(cwd, 'preload.ts'), 'console.log("loaded from the current folder")\n')
    writeFileSync(join(cwd, '.env'), 'STRAND_NO_SUCH_SETTING=1\n')
    const elsewhere = { jsx: 'react', jsxFactory: 'h', paths: { commander: ['./preload.ts'] } }
    writeFileSync(join(cwd, 'tsconfig.json'), JSON.stringify({ compilerOptions: elsewhere }))
    const strand = new StrandProcess(['config', '--data', join(cwd, 'data')], {
      command: [NODE, LAUNCHER],
      cwd,
    })
    expect([await strand.exit(), strand.stderr]).toEqual([0, ''])
    expect(strand.stdout).not.toContain('loaded from the current folder')
  })

  test.skipIf(process.platform !== 'linux' || !hasPostgres)('the same for the workers of serve', async () => {
    const cwd = emptyFolder()
    writeFileSync(join(cwd, 'bunfig.toml'), 'preload = ["./preload.ts"]\n')
    writeFileSync(join(cwd, 'preload.ts'), 'console.log("loaded from the current folder")\n')
    const words = ['serve', '--workers', '2', '--listen', `127.0.0.1:${await freePort()}`]
    const strand = new StrandProcess(words, {
      command: [NODE, LAUNCHER],
      cwd,
      environment: await onNewDatabase(),
    })
    await strand.serving()
    expect(await strand.end('SIGTERM')).toBe(0)
    await removeDatabases()
    expect(strand.stdout).not.toContain('loaded from the current folder')
  })

  test('the same for the child of startStrand', async () => {
    const cwd = emptyFolder()
    writeFileSync(join(cwd, 'bunfig.toml'), 'preload = ["./preload.ts"]\n')
    writeFileSync(join(cwd, 'preload.ts'), 'console.log("loaded from the current folder")\nprocess.exit(3)\n')
    const script = join(cwd, 'start.ts')
    writeFileSync(
      script,
      `import { startStrand } from ${JSON.stringify(join(ROOT, 'src/testing/start-strand.ts'))}
const strand = await startStrand({ mode: 'child', streams: 1 })
console.log((await fetch(strand.url + '/readyz')).status)
await strand.stop()
`,
    )
    // The script itself runs in Bun, which must not read that folder either.
    const own = `--config=${join(ROOT, 'bin/bunfig.toml')}`
    const run = new StrandProcess([], { command: [process.execPath, own, script], cwd })
    expect([await run.exit(), run.stdout, run.stderr]).toEqual([0, '200\n', ''])
  })
})

describe('the runtime is found', () => {
  /** A folder in which bun is installed as a package manager leaves it that runs no install scripts. */
  function installedWithoutScripts(): string {
    const folder = emptyFolder()
    const bun = join(folder, 'node_modules/bun')
    mkdirSync(join(bun, 'bin'), { recursive: true })
    writeFileSync(join(bun, 'package.json'), '{"name":"bun"}')
    writeFileSync(join(bun, 'bin/bun.exe'), 'echo "the postinstall script was not run"\n', { mode: 0o755 })
    return folder
  }

  /** What Node finds from a file in this folder, or why it finds nothing. */
  async function foundFrom(folder: string): Promise<string> {
    const [runtime, from] = [join(ROOT, 'bin/runtime.js'), join(folder, 'program.js')].map(
      path => pathToFileURL(path).href,
    )
    const script = `import { findBun } from '${runtime}'
try { console.log(findBun('${from}')) } catch (error) { console.log(error.message) }`
    const node = new StrandProcess(['--input-type=module', '-e', script], { command: [NODE] })
    await node.exit()
    return node.stdout.trim()
  }

  test('where its install script did not run', async () => {
    const folder = installedWithoutScripts()
    const missing = await foundFrom(folder)
    expect(missing).toMatch(/^the runtime is missing: install the package @oven\/bun-/)
    const [name = ''] = /@oven\/bun-[a-z0-9-]+/.exec(missing) ?? []
    const system = join(folder, 'node_modules', name)
    mkdirSync(join(system, 'bin'), { recursive: true })
    writeFileSync(join(system, 'package.json'), JSON.stringify({ name }))
    symlinkSync(process.execPath, join(system, 'bin/bun'))
    expect(await foundFrom(folder)).toBe(join(system, 'bin/bun'))
  })

  test('where its install script did run', async () => {
    expect(await foundFrom(join(ROOT, 'bin'))).toStartWith(join(ROOT, 'node_modules'))
  })
})

describe('the program is', () => {
  /** A checkout whose program prints where it comes from. */
  function checkout(): string {
    const folder = emptyFolder()
    for (const name of ['src', 'build', 'dist/program']) mkdirSync(join(folder, name), { recursive: true })
    cpSync(join(ROOT, 'bin'), join(folder, 'bin'), { recursive: true })
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
    for (const name of ['package.json', 'tsconfig.json']) cpSync(join(ROOT, name), join(folder, name))
    writeFileSync(join(folder, 'src/main.ts'), "console.log('sources')\nprocess.exit(0)\n")
    writeFileSync(join(folder, 'dist/program/main.js'), "console.log('bundle')\nprocess.exit(0)\n")
    return folder
  }

  async function runIn(folder: string): Promise<string> {
    const strand = new StrandProcess([], { command: [NODE, join(folder, 'bin/strand.js')], cwd: folder })
    expect([await strand.exit(), strand.stderr]).toEqual([0, ''])
    return strand.stdout.trim()
  }

  test('the sources in a checkout, whether or not there is a bundle', async () => {
    const folder = checkout()
    expect(await runIn(folder)).toBe('sources')
    rmSync(join(folder, 'dist'), { recursive: true })
    expect(await runIn(folder)).toBe('sources')
  })

  test('the bundle where npm has installed the package, which has no sources', async () => {
    const folder = checkout()
    for (const name of ['build', 'src']) rmSync(join(folder, name), { recursive: true })
    expect(await runIn(folder)).toBe('bundle')
  })

  test('the sources after npm pack, which replaces package.json and restores it', async () => {
    const folder = checkout()
    const manifest = readFileSync(join(folder, 'package.json'), 'utf8')
    const packed = (...words: string[]) =>
      Bun.spawnSync([process.execPath, join(folder, 'build/packed-manifest.ts'), ...words])
    for (const name of ['packed-manifest.ts', 'repository-page.ts'])
      cpSync(join(ROOT, 'build', name), join(folder, 'build', name))
    // The second time after one that was interrupted.
    packed()
    packed()
    expect(readFileSync(join(folder, 'package.json'), 'utf8')).not.toContain('"prepare"')
    packed('restore')
    expect(readFileSync(join(folder, 'package.json'), 'utf8')).toBe(manifest)
    expect(await runIn(folder)).toBe('sources')
  })
})

describe('the launcher', () => {
  test('passes words and exit codes on', async () => {
    const version = new StrandProcess(['version'], { command: [NODE, LAUNCHER] })
    expect([await version.exit(), version.stdout]).toEqual([0, `${VERSION}\n`])
    const wrong = new StrandProcess(['no-such-command'], { command: [NODE, LAUNCHER] })
    expect(await wrong.exit()).toBe(2)
  })

  test('passes every signal on', async () => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      const words = ['demo', '--port', String(await freePort()), '--no-rtmp', '--streams', '3', '--json']
      const demo = new StrandProcess(words, { command: [NODE, LAUNCHER] })
      await demo.until(({ stdout }) => stdout.endsWith('\n'))
      expect([signal, await demo.end(signal), demo.stderr.includes('"stopped"')]).toEqual([signal, 0, true])
    }
  })

  test.each([
    ['the process', '$!'],
    ['the job', '%1'],
  ])('npx strand demo & followed by kill of %s ends the server', async (_, target) => {
    const port = await freePort()
    const ready = `until curl -sf localhost:${port}/readyz > /dev/null; do sleep 0.1; done`
    const demo = `npx --no-install strand demo --port ${port} --no-rtmp --streams 3 --json`
    const line = `set -m; ${demo} & ${ready}; kill ${target}; wait`
    const installed = emptyFolder()
    mkdirSync(join(installed, 'node_modules/.bin'), { recursive: true })
    symlinkSync(LAUNCHER, join(installed, 'node_modules/.bin/strand'))
    // Its output ends when everything that it started has ended.
    const shell = new StrandProcess([line], { command: ['bash', '-c'], cwd: installed })
    await shell.exit()
    expect(shell.stderr).toContain('"stopped"')
    await expect(fetch(`http://localhost:${port}/healthz`, { keepalive: false })).rejects.toThrow()
  })

  test('scripts of package.json do not need the install script of bun', () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
      scripts: Record<string, string>
    }
    for (const [name, script] of Object.entries(scripts)) {
      expect([name, /(^|&& )bunx? /.test(script)]).toEqual([name, false])
    }
  })

  const killed = async (signal: 'SIGTERM' | 'SIGKILL', whom: 'npm' | 'launcher') => {
    const port = await freePort()
    const words = ['demo', '--port', String(port), '--streams', '1']
    const strand =
      whom === 'npm'
        ? new StrandProcess(['run', '--silent', 'strand', '--', ...words], { command: ['npm'] })
        : new StrandProcess(words, { command: [NODE, LAUNCHER] })
    await strand.until(({ stdout }) => stdout.includes('Stop it with Ctrl-C'))
    const isServing = () =>
      fetch(`http://localhost:${port}/healthz`, { keepalive: false }).then(
        ({ ok }) => ok,
        () => false,
      )
    expect(await isServing()).toBe(true)
    await strand.kill(signal)
    while (await isServing()) await Bun.sleep(20)
    Bun.serve({ hostname: 'localhost', port, fetch: () => new Response() }).stop(true)
  }
  for (const whom of ['npm', 'launcher'] as const) {
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      test(`${signal} to ${whom} ends the server, and the port is free`, () => killed(signal, whom))
    }
  }
})
