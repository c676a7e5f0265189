import { type Environment, environmentOf, ROOT, STRAND } from './strand-process.ts'

/** How a program ended in a terminal, and everything that it wrote there. */
interface Screen {
  readonly code: number
  /** With the codes for colours and cursor movements. */
  readonly raw: string
  /** Without them: the lines, as they are read. */
  readonly lines: readonly string[]
}

interface TerminalOptions {
  readonly columns: number
  readonly rows?: number
  readonly cwd?: string
  readonly environment?: Environment
  readonly command?: readonly string[]
}

/** A child that runs `strand` with these words in a real pseudo-terminal. */
export class TerminalProcess {
  readonly #process: Bun.Subprocess
  readonly #terminal: Bun.Terminal
  readonly #decoder = new TextDecoder()
  /** When everything that was written there has been read. */
  readonly #end = Promise.withResolvers<void>()
  raw = ''

  constructor(words: readonly string[], options: TerminalOptions) {
    const child = Bun.spawn([...(options.command ?? STRAND), ...words], {
      cwd: options.cwd ?? ROOT,
      // The test run has NO_COLOR, for the sake of its log.
      env: environmentOf({ NO_COLOR: '', TERM: 'xterm-256color', ...options.environment }),
      terminal: {
        cols: options.columns,
        rows: options.rows ?? 40,
        data: (_terminal, bytes) => {
          this.raw += this.#decoder.decode(bytes, { stream: true })
        },
        exit: () => this.#end.resolve(),
      },
    })
    if (child.terminal === undefined) throw new Error('the runtime has no pseudo-terminals')
    this.#process = child
    this.#terminal = child.terminal
  }

  get pid(): number {
    return this.#process.pid
  }

  type(text: string): void {
    this.#terminal.write(text)
  }

  resize(columns: number, rows: number): void {
    this.#terminal.resize(columns, rows)
  }

  /** Waits for something that shows on the screen. */
  async until(look: (raw: string) => boolean): Promise<void> {
    while (!look(this.raw)) {
      if (this.#process.exitCode !== null) throw new Error(`strand ended: ${this.raw}`)
      await Bun.sleep(5)
    }
  }

  async exit(): Promise<Screen> {
    const code = await this.#process.exited
    await this.#end.promise
    this.#terminal.close()
    return { code, raw: this.raw, lines: linesOf(this.raw) }
  }
}

/** Runs it to its end. */
export function onTerminal(words: readonly string[], options: TerminalOptions): Promise<Screen> {
  return new TerminalProcess(words, options).exit()
}

function linesOf(raw: string): string[] {
  const lines = Bun.stripANSI(raw).split('\n')
  // A progress line is drawn over the one before it.
  return lines.map(line => line.replace(/\r$/, '').split('\r').at(-1) ?? '')
}
