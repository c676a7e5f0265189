import { fileURLToPath } from 'node:url'
import type { BunFile } from 'bun'
import type { LoopResult } from '../baselines/bare-sqlite.ts'
import type { AudienceReport } from '../media/audience.ts'
import type { Secrets } from '../world/world.ts'
import type { PacedReport } from './paced-load.ts'
import { type MemoryUse, PeakMemory } from './process-usage.ts'

export const SERVER_CORE = 0
export const LOAD_CORE = 1
const BOTH_CORES = '0,1'
const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const MAX_WAIT_MILLISECONDS = 10_000
/** Limits are on, as people run it, and so high that a load generator does not meet them. */
const NEVER_MET = '999999999'

/** A server under measurement. */
export interface Served {
  readonly url: string
  readonly pid: number
  stop(): Promise<void>
}

/** Every process that the bench starts, each pinned to one core, so that all of them end with it. */
export class Children {
  readonly #running = new Set<Bun.Subprocess>()

  /** Runs a program to its end and gives what it printed. One that complains has failed, whatever it returns. */
  async output(core: number, words: readonly string[]): Promise<string> {
    const child = this.#spawn(core, words, 'pipe')
    const [text, violation, code] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ])
    if (code !== 0 || violation !== '') throw new Error(`${words[0]} ended with ${code}: ${violation}`)
    return text
  }

  /** The bare server with this body, optionally with the headers of a real response. */
  startBareServer(bodyFile: string, ...mode: readonly 'with-headers'[]): Promise<Served> {
    return this.#startServer('bench/baselines/bare-server.ts', bodyFile, ...mode)
  }

  startLeastServer(planFile: string): Promise<Served> {
    return this.#startServer('bench/baselines/least-server.ts', planFile)
  }

  startBareBroadcast(bitsPerSecond: number): Promise<Served> {
    return this.#startServer('bench/baselines/bare-broadcast.ts', String(bitsPerSecond))
  }

  /** A receiver of webhooks, where the load is. */
  startReceiver(): Promise<Served> {
    return this.#startOn(LOAD_CORE, 'bench/events/receiver.ts')
  }

  #startServer(...words: readonly string[]): Promise<Served> {
    return this.#startOn(SERVER_CORE, ...words)
  }

  /** A server that prints its port when it is ready. */
  async #startOn(core: number, ...words: readonly string[]): Promise<Served> {
    const child = this.#spawn(core, bunScript(...words), 'inherit')
    const { value } = await child.stdout.getReader().read()
    const port = new TextDecoder().decode(value).trim()
    return { url: `http://127.0.0.1:${port}`, pid: child.pid, stop: () => this.#stop(child) }
  }

  async runBareLoop(planFile: string): Promise<LoopResult> {
    return JSON.parse(await this.output(SERVER_CORE, bunScript('bench/baselines/bare-sqlite.ts', planFile)))
  }

  /** Publishers and viewers. */
  async runAudience(planFile: string): Promise<AudienceReport> {
    return JSON.parse(await this.output(LOAD_CORE, bunScript('bench/media/audience.ts', planFile)))
  }

  /** Runs a script with a plan where the load is, and gives the JSON that it printed. */
  async runScript<Result>(script: string, planFile: string): Promise<Result> {
    return JSON.parse(await this.output(LOAD_CORE, bunScript(script, planFile)))
  }

  /** The generator with a fixed rate; gives each of its reports when it is printed. */
  async *runPacedLoad(planFile: string): AsyncGenerator<PacedReport> {
    const child = this.#spawn(LOAD_CORE, bunScript('bench/load/paced-load.ts', planFile), 'inherit')
    const decoder = new TextDecoder()
    let begun = ''
    for await (const chunk of child.stdout) {
      const lines = (begun + decoder.decode(chunk, { stream: true })).split('\n')
      begun = lines.pop() ?? ''
      for (const line of lines) yield JSON.parse(line)
    }
    const code = await child.exited
    if (code !== 0) throw new Error(`bench/load/paced-load.ts ended with ${code}`)
  }

  /** Strand on a data folder, or on PostgreSQL; gives how long it took to its first good answer. */
  async startStrand(
    folder: string,
    secrets?: Secrets,
    databaseUrl?: string,
    settings: Readonly<Record<string, string>> = {},
    logFile?: string,
  ): Promise<Served & { readonly milliseconds: number }> {
    const listen = `127.0.0.1:${freePort()}`
    const words = bunScript('src/main.ts', 'serve', '--data', folder, '--listen', listen)
    const began = performance.now()
    const log = logFile === undefined ? 'inherit' : Bun.file(logFile)
    const child = this.#spawn(SERVER_CORE, words, log, {
      STRAND_RATE_APP: NEVER_MET,
      STRAND_RATE_USER: NEVER_MET,
      STRAND_RATE_ANONYMOUS: NEVER_MET,
      STRAND_RATE_OAUTH_ADDRESS: NEVER_MET,
      STRAND_RATE_OAUTH_CLIENT: NEVER_MET,
      STRAND_RATE_OAUTH_VALIDATE: NEVER_MET,
      STRAND_LOG: 'warn',
      ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
      ...(secrets !== undefined && {
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
        throw new Error('Strand did not come up')
      }
      await Bun.sleep(2)
    }
  }

  /** Runs a verb of `strand` to its end, on both cores, and watches it. */
  async runStrand(
    words: readonly string[],
    settings: Readonly<Record<string, string>> = {},
  ): Promise<{ seconds: number; processorSeconds: number; peak: MemoryUse }> {
    const began = performance.now()
    const child = this.#spawn(BOTH_CORES, bunScript('src/main.ts', ...words), 'inherit', settings)
    const peak = new PeakMemory(child.pid)
    const code = await child.exited
    const seconds = (performance.now() - began) / 1000
    if (code !== 0) throw new Error(`strand ${words[0]} ended with ${code}`)
    return { seconds, processorSeconds: peak.processorSeconds, peak: peak.end() }
  }

  async stopAll(): Promise<void> {
    await Promise.all([...this.#running].map(child => this.#stop(child)))
  }

  #spawn<Violations extends 'pipe' | 'inherit' | BunFile>(
    core: number | typeof BOTH_CORES,
    words: readonly string[],
    violations: Violations,
    settings: Readonly<Record<string, string>> = {},
  ) {
    // Settings of the shell that this was started from must not reach the server.
    const inherited = Object.entries(process.env).filter(
      ([name]) => !name.startsWith('STRAND_') && name !== 'DATABASE_URL',
    )
    const child = Bun.spawn(['taskset', '-c', String(core), ...words], {
      cwd: ROOT,
      env: { ...Object.fromEntries(inherited), ...settings },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: violations,
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

function bunScript(...words: readonly string[]): string[] {
  return [process.execPath, ...words]
}

export function freePort(): number {
  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response() })
  const { port = 0 } = server
  server.stop(true)
  return port
}
