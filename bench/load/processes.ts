/** The processes of a run. Each is pinned to a core, and all of them end with the run. */
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { arch, platform, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ALLOCATOR, bunWords, programFile } from '../../bin/runtime.js'
import { freePort, type PostgresServer, startPostgres } from '../../test/support/store/postgres.ts'
import type { UsualPlan } from '../baselines/usual-server/operations.ts'
import { copyWorld } from '../world/copy-world.ts'
import type { BenchWorld, Secrets } from '../world/world.ts'

export const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const NODE = '26.10.0'
const FASTIFY = '5.12.8'

const SERVER_CORE = '0'
/** Also the core of this process, which generates some of the load. */
export const LOAD_CORE = '1'
export const ALL_CORES = '0-1023'
const MAX_WAIT_MILLISECONDS = 10_000
const RATES = ['APP', 'USER', 'ANONYMOUS', 'OAUTH_ADDRESS', 'OAUTH_CLIENT', 'OAUTH_VALIDATE']
/** Limits are on, as people run it, and so high that a load generator does not meet them. */
const NEVER_MET = Object.fromEntries(RATES.map(rate => [`STRAND_RATE_${rate}`, '999999999']))

type Settings = Readonly<Record<string, string>>

/** A server under measurement. */
export interface Served {
  readonly url: string
  readonly pid: number
  /** Of Strand: from the start of the process to its first good answer. */
  readonly milliseconds?: number
  stop(): Promise<void>
}

/** Where Strand is to run, if not on the embedded store of the folder with default settings. */
interface StrandOptions {
  readonly secrets?: Secrets
  readonly databaseUrl?: string
  readonly settings?: Settings
  readonly core?: string
  readonly command?: readonly string[]
  /** The folder that Node launches it from, as people do, if it is not started as the launcher of the package does. */
  readonly launchedFrom?: string
}

export class Processes {
  readonly #running = new Set<Bun.Subprocess>()
  readonly #databases: PostgresServer[] = []
  readonly #folder: string
  /** The package under measurement. */
  readonly packageFolder: string

  constructor(folder: string) {
    this.#folder = folder
    this.packageFolder = join(folder, 'package')
    makePackageFolder(this.packageFolder)
  }

  /** Runs a program to its end and gives what it printed. One that prints errors has failed, whatever it returns. */
  async output(core: string, words: readonly string[]): Promise<string> {
    const child = this.#spawn(core, words, 'pipe')
    const [text, errors, code] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ])
    if (code !== 0 || errors !== '') throw new Error(`${words[0]} ended with ${code}: ${errors}`)
    return text
  }

  startUsualServer(plan: Omit<UsualPlan, 'modules'>): Promise<Served> {
    const { modules, node } = installUsualModules()
    return this.startBaseline('usual-server/server', { ...plan, modules }, node)
  }

  /** A script of `baselines/` with its plan, as a server that prints its port when it is ready. */
  async startBaseline(script: string, plan: object, runtime = process.execPath): Promise<Served> {
    const planFile = join(this.#folder, `plan-${performance.now()}.json`)
    writeFileSync(planFile, JSON.stringify(plan))
    const child = this.#spawn(SERVER_CORE, [runtime, `bench/baselines/${script}.ts`, planFile], 'inherit')
    const { value } = await child.stdout.getReader().read()
    const port = new TextDecoder().decode(value).trim()
    return { url: `http://127.0.0.1:${port}`, pid: child.pid, stop: () => this.#stop(child) }
  }

  /** Strand with default settings, except that no limit is met. Its log is in a file of the run. */
  async startStrand(folder: string, options: StrandOptions = {}): Promise<Served> {
    const { secrets, databaseUrl, settings, core = SERVER_CORE, command = ['serve'], launchedFrom } = options
    const listen = `127.0.0.1:${await freePort()}`
    // As the launcher of the package starts it.
    const started = [process.execPath, ...bunWords(this.packageFolder), programFile(this.packageFolder)]
    const program = launchedFrom === undefined ? started : ['node', join(launchedFrom, 'bin/strand.js')]
    const words = [...program, ...command, '--data', folder, '--listen', listen]
    const log = Bun.file(join(this.#folder, 'strand.log'))
    const began = performance.now()
    const child = this.#spawn(core, words, log, {
      ...NEVER_MET,
      ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
      ...(secrets && {
        STRAND_MASTER_KEYS: secrets.masterKeys,
        STRAND_OPERATOR_TOKEN: secrets.operatorToken,
      }),
      ...settings,
    })
    const url = `http://${listen}`
    for (;;) {
      const answer = await fetch(`${url}/helix/streams?first=1`).catch(() => undefined)
      await answer?.arrayBuffer()
      const milliseconds = performance.now() - began
      if (answer?.ok) return { url, pid: child.pid, milliseconds, stop: () => this.#stop(child) }
      if (child.exitCode !== null || milliseconds > 6 * MAX_WAIT_MILLISECONDS) {
        throw new Error(`Strand did not start: ${await log.text()}`)
      }
      await Bun.sleep(2)
    }
  }

  /** A PostgreSQL that waits for the disk, on all cores, with a copy of the world. It ends with the measure. */
  async startDatabase({ storeFile }: Pick<BenchWorld, 'storeFile'>): Promise<string> {
    // Children inherit the core of this process.
    moveTo(ALL_CORES, process.pid)
    const database = await startPostgres({ durable: true })
    moveTo(LOAD_CORE, process.pid)
    this.#databases.push(database)
    await copyWorld(storeFile, database.url)
    return database.url
  }

  async stopAll(): Promise<void> {
    await Promise.all([...this.#running].map(child => this.#stop(child)))
    await this.stopDatabases()
  }

  async stopDatabases(): Promise<void> {
    await Promise.all(this.#databases.splice(0).map(database => database.stop()))
  }

  #spawn<E extends 'pipe' | 'inherit' | Bun.BunFile>(
    core: string,
    words: readonly string[],
    stderr: E,
    settings: Settings = {},
  ) {
    // Settings of the shell that this was started from must not reach the server.
    const inherited = Object.entries(process.env).filter(
      ([name]) => !name.startsWith('STRAND_') && name !== 'DATABASE_URL',
    )
    const child = Bun.spawn(['taskset', '-c', core, ...words], {
      cwd: ROOT,
      env: { ...ALLOCATOR, ...Object.fromEntries(inherited), ...settings },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr,
    })
    this.#running.add(child)
    void child.exited.then(() => this.#running.delete(child))
    return child
  }

  async #stop(child: Bun.Subprocess): Promise<void> {
    child.kill('SIGTERM')
    const waitLimit = setTimeout(() => child.kill('SIGKILL'), MAX_WAIT_MILLISECONDS)
    await child.exited
    clearTimeout(waitLimit)
  }
}

/** Moves a running process with all its threads. */
export function moveTo(cores: string, pid: number): void {
  Bun.spawnSync(['taskset', '--all-tasks', '--cpu-list', '--pid', cores, String(pid)])
}

/**
 * The package as users have it. A checkout runs its sources, so measurements run from this folder: the launcher, the bundle
 * and the test harness, without the sources.
 */
function makePackageFolder(folder: string): void {
  execFileSync(process.execPath, ['build/package.ts'], { cwd: ROOT })
  for (const name of ['bin', 'dist/program', 'dist/testing', 'package.json', 'tsconfig.json'])
    cpSync(join(ROOT, name), join(folder, name), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
}

/** A current Node and Fastify for the usual server, installed on first use. Gives the folder of packages and the file of Node. */
function installUsualModules(): { modules: string; node: string } {
  const folder = join(tmpdir(), `strand-bench-node-${NODE}-fastify-${FASTIFY}`)
  const nodePackage = `node-${platform()}-${arch()}`
  const node = join(folder, 'node_modules', nodePackage, 'bin/node')
  if (!existsSync(join(folder, 'node_modules/fastify/package.json')) || !existsSync(node)) {
    mkdirSync(folder, { recursive: true })
    const dependencies = { fastify: FASTIFY, [nodePackage]: NODE }
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies }))
    execFileSync('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: folder })
  }
  return { modules: `${folder}/`, node }
}
