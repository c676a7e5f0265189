import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SQL } from 'bun'
import type { Binaries } from '../../test/support/store/postgres-binaries.ts'

const START_MILLISECONDS = 30_000
const LEFT_BEHIND = ['postmaster.pid', 'postmaster.opts', 'standby.signal', 'backup_label']

/** One PostgreSQL server with a separate folder. Its port stays the same whatever happens to it. */
export class PostgresNode {
  readonly name: string
  readonly port: number
  readonly folder: string
  readonly #binaries: Binaries
  #server: Bun.Subprocess | undefined

  constructor(name: string, port: number, folder: string, binaries: Binaries) {
    this.name = name
    this.port = port
    this.folder = folder
    this.#binaries = binaries
  }

  get isRunning(): boolean {
    return this.#server !== undefined && this.#server.exitCode === null && this.#server.signalCode === null
  }

  async start(): Promise<void> {
    const { postgres, identity } = this.#binaries
    const log = Bun.file(`${this.folder}.log`)
    const server = Bun.spawn([postgres, '-D', this.folder, '-c', `port=${this.port}`], {
      ...identity,
      cwd: this.folder,
      stdin: 'ignore',
      stdout: 'ignore',
      stderr: log,
    })
    this.#server = server
    const deadline = performance.now() + START_MILLISECONDS
    for (;;) {
      if (await this.ask('select 1', 'postgres').catch(() => undefined)) return
      if (!this.isRunning) throw new Error(`${this.name} did not start: ${this.log().slice(-800)}`)
      if (performance.now() > deadline) throw new Error(`${this.name} does not answer`)
      await Bun.sleep(20)
    }
  }

  /** `fast` ends its connections in good order; `immediate` is what pg_ctl calls a crash on purpose. */
  async stop(how: 'fast' | 'immediate'): Promise<void> {
    if (!this.isRunning) return
    this.#server?.kill(how === 'fast' ? 'SIGINT' : 'SIGQUIT')
    await this.#server?.exited
  }

  /** As if its machine lost power: the server and everything it has started are gone at once. */
  async kill(): Promise<void> {
    if (!this.isRunning) return
    this.#signalAll('SIGKILL')
    await this.#server?.exited
  }

  /** Stops everything at once, without notice. */
  pause(): void {
    this.#signalAll('SIGSTOP')
  }

  resume(): void {
    this.#signalAll('SIGCONT')
  }

  /** Each of its processes is the leader of a separate group, so that they have to be found one by one. */
  #signalAll(signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void {
    const pid = this.#server?.pid
    if (pid === undefined) return
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')
    for (const each of [pid, ...children.filter(Boolean).map(Number)]) {
      try {
        process.kill(each, signal)
      } catch {
        // It ended in between.
      }
    }
  }

  async ask<Row>(statement: string, database = 'strand'): Promise<Row[]> {
    const client = new SQL(this.url(database), { max: 1, connectionTimeout: 3 })
    try {
      return [...(await client.unsafe(statement))] as Row[]
    } finally {
      await client.close()
    }
  }

  /** A connection that the caller keeps and closes. */
  connect(): SQL {
    return new SQL(this.url('strand'), { max: 1, connectionTimeout: 3, idleTimeout: 0 })
  }

  url(database: string): string {
    return `postgres://postgres@127.0.0.1:${this.port}/${database}`
  }

  /** What it wrote into its log since it was last started. */
  log(): string {
    return readFileSync(`${this.folder}.log`, 'utf8')
  }

  /** Settings that can be changed while it runs; takes away what a copied folder brought along. */
  prepare(settings: Readonly<Record<string, string>>, role: 'primary' | 'standby', label?: string): void {
    for (const name of LEFT_BEHIND) rmSync(join(this.folder, name), { force: true })
    const lines = Object.entries(settings).map(([name, value]) => `${name} = '${value}'\n`)
    this.#write('postgresql.auto.conf', lines.join(''))
    if (role === 'standby') this.#write('standby.signal', '')
    if (label !== undefined) this.#write('backup_label', label)
  }

  #write(name: string, text: string): void {
    const path = join(this.folder, name)
    writeFileSync(path, text)
    const { uid, gid } = this.#binaries.identity
    if (uid !== undefined && gid !== undefined) Bun.spawnSync(['chown', `${uid}:${gid}`, path])
  }
}
