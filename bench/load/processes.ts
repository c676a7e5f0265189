/** The processes of a run. Each is pinned to a core, and all of them end with the run. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ALLOCATOR, bunWords, programFile } from '../../bin/runtime.js'
import { freePort, type PostgresServer, startPostgres } from '../../test/support/store/postgres.ts'
import { copyWorld } from '../world/copy-world.ts'
import type { BenchWorld, Secrets } from '../world/world.ts'
import { makePackageFolder } from './package-folder.ts'
import { PeakMemory } from './usage.ts'

export const SERVER_CORE = '0'
/** Also the core of this process, which generates some of the load. */
export const LOAD_CORE = '1'
export const ALL_CORES = '0-1023'
const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const MAX_WAIT_MILLISECONDS = 10_000
/** Limits are on, as people run it, and so high that a load generator does not meet them. */
const NEVER_MET = '999999999'
const RATES = ['APP', 'USER', 'ANONYMOUS', 'OAUTH_ADDRESS', 'OAUTH_CLIENT', 'OAUTH_VALIDATE']

type Settings = Readonly<Record<string, string>>

/** A server under measurement. */
export interface Served {
  readonly url: string
  readonly pid: number
  /** From the start of the process to its first good answer. */
  readonly milliseconds: number
  stop(): Promise<void>
}

/** Where Strand is to run, if not on the embedded store of the folder with default settings. */
export interface StrandOptions {
  readonly secrets?: Secrets
  readonly databaseUrl?: string
  readonly settings?: Settings
  readonly core?: string
  /** Another command than `serve`. */
  readonly command?: readonly string[]
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

  /** A script of `baselines/` with its plan, as a server that prints its port when it is ready. */
  async startBaseline(script: string, plan: object): Promise<Served> {
    const began = performance.now()
    const child = this.#spawn(SERVER_CORE, this.#baseline(script, plan), 'inherit')
    const { value } = await child.stdout.getReader().read()
    const port = new TextDecoder().decode(value).trim()
    const milliseconds = performance.now() - began
    return { url: `http://127.0.0.1:${port}`, pid: child.pid, milliseconds, stop: () => this.#stop(child) }
  }

  /** The same for one that prints its result as JSON and ends. */
  async runBaseline<Result>(script: string, plan: object): Promise<Result> {
    return JSON.parse(await this.output(SERVER_CORE, this.#baseline(script, plan)))
  }

  #baseline(script: string, plan: object): string[] {
    const planFile = join(this.#folder, `${script}-${performance.now()}.json`)
    writeFileSync(planFile, JSON.stringify(plan))
    return [process.execPath, `bench/baselines/${script}.ts`, planFile]
  }

  /** Strand with default settings, except that no limit is met. Its log is in a file of the run. */
  async startStrand(folder: string, options: StrandOptions = {}): Promise<Served> {
    const { secrets, databaseUrl, settings, core = SERVER_CORE, command = ['serve'] } = options
    const listen = `127.0.0.1:${await freePort()}`
    const words = this.#strand(...command, '--data', folder, '--listen', listen)
    const began = performance.now()
    const child = this.#spawn(core, words, this.#log, {
      ...Object.fromEntries(RATES.map(rate => [`STRAND_RATE_${rate}`, NEVER_MET])),
      ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
      ...(secrets !== undefined && settingsOf(secrets)),
      ...settings,
    })
    const url = `http://${listen}`
    for (;;) {
      const answer = await fetch(`${url}/helix/streams?first=1`).catch(() => undefined)
      await answer?.arrayBuffer()
      const milliseconds = performance.now() - began
      if (answer?.ok) return { url, pid: child.pid, milliseconds, stop: () => this.#stop(child) }
      if (child.exitCode !== null || milliseconds > 6 * MAX_WAIT_MILLISECONDS) {
        throw new Error(`Strand did not start: ${await this.#log.text()}`)
      }
      await Bun.sleep(2)
    }
  }

  /**
   * Runs a command of `strand` on a store to its end, on all cores, and watches it. Launched by Node, as people run it, the
   * memory is that of Node.
   */
  async runStrand(
    { folder, secrets }: Pick<BenchWorld, 'folder' | 'secrets'>,
    words: readonly string[],
    { launched = false } = {},
  ): Promise<{ seconds: number; megabytes: number }> {
    const program = launched
      ? ['node', join(this.packageFolder, 'bin/strand.js'), ...words]
      : this.#strand(...words)
    const began = performance.now()
    const child = this.#spawn(ALL_CORES, [...program, '--data', folder], this.#log, settingsOf(secrets))
    const peak = new PeakMemory(child.pid)
    const code = await child.exited
    const seconds = (performance.now() - began) / 1000
    if (code !== 0) throw new Error(`strand ${words.join(' ')} ended with ${code}: ${await this.#log.text()}`)
    return { seconds, megabytes: peak.end() }
  }

  /** A PostgreSQL that waits for the disk, on all cores, with a copy of the world. It ends with the measure. */
  async startDatabase({ storeFile }: BenchWorld): Promise<string> {
    // Children inherit the core of this process.
    moveTo(ALL_CORES, process.pid)
    const database = await startPostgres({ durable: true })
    moveTo(LOAD_CORE, process.pid)
    this.#databases.push(database)
    await copyWorld(storeFile, database.url)
    return database.url
  }

  /** As the launcher of the package starts it. */
  #strand(...words: readonly string[]): string[] {
    return [process.execPath, ...bunWords(this.packageFolder), programFile(this.packageFolder), ...words]
  }

  /** What Strand prints. */
  get #log(): Bun.BunFile {
    return Bun.file(join(this.#folder, 'strand.log'))
  }

  async stopAll(): Promise<void> {
    await Promise.all([...this.#running].map(child => this.#stop(child)))
    await this.stopDatabases()
  }

  async stopDatabases(): Promise<void> {
    await Promise.all(this.#databases.splice(0).map(database => database.stop()))
  }

  #spawn<Errors extends 'pipe' | 'inherit' | Bun.BunFile>(
    core: string,
    words: readonly string[],
    errors: Errors,
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
      stderr: errors,
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

function settingsOf({ masterKeys, operatorToken }: Secrets): Settings {
  return { STRAND_MASTER_KEYS: masterKeys, STRAND_OPERATOR_TOKEN: operatorToken }
}
