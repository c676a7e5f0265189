import { join } from 'node:path'

export const ROOT = join(import.meta.dir, '..', '..', '..')
const { TEST_STRAND = '' } = process.env

/**
 * The command that runs Strand: the executable that the test run has built, which starts three times as fast as the
 * sources, or the sources where there is none.
 */
export const STRAND: readonly string[] =
  TEST_STRAND === '' ? [process.execPath, join(ROOT, 'src', 'main.ts')] : [TEST_STRAND]
/** The same for a line of a shell. */
export const STRAND_IN_SHELL = STRAND.map(word => `'${word}'`).join(' ')

export type Environment = Readonly<Record<string, string>>

/** The surroundings of a child: ours, without any setting of Strand. */
const surroundings = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !name.startsWith('STRAND_') && name !== 'DATABASE_URL'),
)

/** Children of the default tier run for less time than it takes to earn back the second of the runtime's compilers. */
const FAST_START: Environment = process.env.TEST_TIER === 'default' ? { BUN_JSC_useDFGJIT: '0' } : {}

/** The environment of a child. Profiles of the person who runs the tests have no effect. */
export function environmentOf(environment: Environment = {}): Record<string, string | undefined> {
  return { ...surroundings, ...FAST_START, XDG_CONFIG_HOME: '/dev/null/none', ...environment }
}

const running = new Set<StrandProcess>()

/** Ends every child that a test left behind. */
export async function endAllProcesses(): Promise<void> {
  await Promise.all([...running].map(strand => strand.end('SIGKILL')))
}

/** A child that runs `strand` with these words. */
export class StrandProcess {
  readonly #process: Bun.Subprocess<'ignore', 'pipe', 'pipe'>
  readonly #done: Promise<unknown>
  #stdout = ''
  #stderr = ''

  constructor(
    words: readonly string[],
    options: { environment?: Environment; cwd?: string; command?: readonly string[] } = {},
  ) {
    this.#process = Bun.spawn([...(options.command ?? STRAND), ...words], {
      cwd: options.cwd ?? ROOT,
      env: environmentOf({ NO_COLOR: '1', ...options.environment }),
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    })
    running.add(this)
    this.#done = Promise.all([
      this.#gather(this.#process.stdout, text => {
        this.#stdout += text
      }),
      this.#gather(this.#process.stderr, text => {
        this.#stderr += text
      }),
    ])
  }

  get pid(): number {
    return this.#process.pid
  }

  get stdout(): string {
    return this.#stdout
  }

  get stderr(): string {
    return this.#stderr
  }

  /** Waits for something that shows in the output, or elsewhere. */
  async until<T>(look: (strand: StrandProcess) => T | undefined | false): Promise<T> {
    for (;;) {
      const found = look(this)
      if (found !== undefined && found !== false) return found
      if (this.#process.exitCode !== null) {
        await this.#done
        throw new Error(`strand ended with ${this.#process.exitCode}: ${this.#stderr}`)
      }
      await Bun.sleep(5)
    }
  }

  /** Waits until it serves. */
  async serving(): Promise<this> {
    await this.until(({ stderr }) => stderr.includes('"msg":"serving"'))
    return this
  }

  async exit(): Promise<number> {
    const code = await this.#process.exited
    await this.#done
    running.delete(this)
    return code
  }

  end(signal: 'SIGTERM' | 'SIGINT' | 'SIGKILL'): Promise<number> {
    this.#process.kill(signal)
    return this.exit()
  }

  /** Ends it without waiting for its output to end: what it started may still hold that. */
  async kill(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    this.#process.kill(signal)
    await this.#process.exited
    running.delete(this)
  }

  async #gather(stream: ReadableStream<Uint8Array>, take: (text: string) => void): Promise<void> {
    const decoder = new TextDecoder()
    for await (const chunk of stream) take(decoder.decode(chunk, { stream: true }))
  }
}
