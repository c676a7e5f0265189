import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Environment, STRAND_IN_SHELL, StrandProcess } from './strand-process.ts'

export interface Ended {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** A folder in which lines of a shell are run as a person types them, with `strand` among the programs. */
export class Shell {
  readonly folder = mkdtempSync(join(tmpdir(), 'strand-shell-'))
  readonly #environment: Environment

  constructor(environment: Environment = {}) {
    const programs = join(this.folder, 'bin')
    mkdirSync(programs)
    const strand = join(programs, 'strand')
    writeFileSync(strand, `#!/bin/sh\nexec ${STRAND_IN_SHELL} "$@"\n`)
    chmodSync(strand, 0o755)
    this.#environment = {
      PATH: `${programs}:${process.env.PATH}`,
      XDG_CONFIG_HOME: join(this.folder, 'config'),
      ...environment,
    }
  }

  /** Where the store is, unless a line sets it. */
  get data(): string {
    return join(this.folder, 'data')
  }

  start(line: string, environment: Environment = {}): StrandProcess {
    return new StrandProcess([line], {
      command: ['bash', '-c'],
      cwd: this.folder,
      environment: { ...this.#environment, ...environment },
    })
  }

  /** Runs a line to its end, which must come soon. */
  async run(line: string, environment: Environment = {}): Promise<Ended> {
    const strand = this.start(line, environment)
    const deadline = setTimeout(() => strand.end('SIGKILL'), 90_000)
    const code = await strand.exit()
    clearTimeout(deadline)
    return { code, stdout: strand.stdout, stderr: strand.stderr }
  }

  /** Runs a line that must succeed, and gives what it prints. */
  async output(line: string, environment: Environment = {}): Promise<string> {
    const { code, stdout, stderr } = await this.run(line, environment)
    if (code !== 0) throw new Error(`${line}\nended with ${code}: ${stderr}`)
    return stdout
  }

  /** The same with `--json`: the rows of the answer. */
  // biome-ignore lint/suspicious/noExplicitAny: a row is whatever the server sent
  async ask(line: string, environment: Environment = {}): Promise<any[]> {
    const text = await this.output(`${line} --json`, environment)
    return text === '' ? [] : JSON.parse(text).data
  }

  write(name: string, text: string): void {
    writeFileSync(join(this.folder, name), text)
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true })
  }
}
