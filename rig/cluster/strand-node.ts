import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const START_MILLISECONDS = 30_000
const STOP_MILLISECONDS = 20_000

/** One `strand serve`. Its address stays the same when it is started again. */
export class StrandNode {
  readonly name: string
  readonly url: string
  readonly #settings: Readonly<Record<string, string>>
  readonly #folder: string
  #logs: string[] = []
  #server: Bun.Subprocess | undefined

  constructor(name: string, port: number, folder: string, settings: Readonly<Record<string, string>>) {
    this.name = name
    this.url = `http://127.0.0.1:${port}`
    this.#folder = folder
    this.#settings = {
      ...settings,
      STRAND_LISTEN: `127.0.0.1:${port}`,
      STRAND_DATA: join(folder, name),
      STRAND_LOG_FORMAT: 'json',
    }
  }

  /** Starts it and waits until it is ready; gives how long that took, in milliseconds. */
  async start(): Promise<number> {
    const began = performance.now()
    // Settings of the shell that this was started from must not reach the server.
    const inherited = Object.entries(process.env).filter(
      ([name]) => !name.startsWith('STRAND_') && name !== 'DATABASE_URL',
    )
    const log = join(this.#folder, `${this.name}-${this.#logs.length + 1}.log`)
    this.#logs = [...this.#logs, log]
    const server = Bun.spawn([process.execPath, 'src/main.ts', 'serve'], {
      cwd: ROOT,
      env: { ...Object.fromEntries(inherited), ...this.#settings },
      stdin: 'ignore',
      stdout: 'ignore',
      stderr: Bun.file(log),
    })
    this.#server = server
    while (!(await this.isReady())) {
      if (server.exitCode !== null)
        throw new Error(`${this.name} ended: ${readFileSync(log, 'utf8').slice(-800)}`)
      if (performance.now() - began > START_MILLISECONDS) throw new Error(`${this.name} does not get ready`)
      await Bun.sleep(20)
    }
    return performance.now() - began
  }

  async isReady(): Promise<boolean> {
    const options = { signal: AbortSignal.timeout(2000), keepalive: false }
    const answer = await fetch(`${this.url}/readyz`, options).catch(() => undefined)
    await answer?.arrayBuffer().catch(() => undefined)
    return answer?.status === 200
  }

  /** Asks it to stop and waits for its end. Gives the exit code; undefined if it had to be killed. */
  async stop(): Promise<number | undefined> {
    const server = this.#server
    if (server === undefined) return 0
    server.kill('SIGTERM')
    let killed = false
    const waitLimit = setTimeout(() => {
      killed = true
      server.kill('SIGKILL')
    }, STOP_MILLISECONDS)
    const code = await server.exited
    clearTimeout(waitLimit)
    return killed ? undefined : code
  }

  async kill(): Promise<void> {
    this.#server?.kill('SIGKILL')
    await this.#server?.exited
  }

  pause(): void {
    this.#server?.kill('SIGSTOP')
  }

  resume(): void {
    this.#server?.kill('SIGCONT')
  }

  /** Of its process. */
  get pid(): number {
    if (this.#server === undefined) throw new Error(`${this.name} was not started`)
    return this.#server.pid
  }

  /** Everything it logged, over all its starts. */
  log(): string {
    return this.#logs.map(file => readFileSync(file, 'utf8')).join('')
  }
}
