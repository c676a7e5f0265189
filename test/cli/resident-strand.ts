/**
 * Command lines of `strand` without a process for each. Starting one takes most of the time of a short command, so tests of
 * what commands print and return send their lines to a process that stays. Tests of pipes, signals and terminals start
 * processes.
 */
import { join } from 'node:path'
import type { Ended } from '../support/cli/shell.ts'
import { type Environment, environmentOf } from '../support/cli/strand-process.ts'

export interface Line {
  readonly number: number
  readonly words: readonly string[]
  readonly cwd: string
  readonly environment: Record<string, string | undefined>
}

export const endOf = (number: number, code: number) => `\0end of ${number}: ${code}\0`
const END = /^([^\0]*)\0end of (\d+): (\d+)\0/

/** The process; one for the tests of a file. */
export class ResidentStrand {
  readonly #process = Bun.spawn([process.execPath, join(import.meta.dir, 'resident-child.ts')], {
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    ipc: () => undefined,
  })
  readonly #stdout = new Output(this.#process.stdout)
  readonly #stderr = new Output(this.#process.stderr)
  #count = 0
  #last: Promise<unknown> = Promise.resolve()

  /** Lines in this folder and environment. */
  shellIn(cwd: string, environment: Environment = {}): ResidentShell {
    return new ResidentShell((words, more) => {
      const whole = environmentOf({ NO_COLOR: '1', ...environment, ...more })
      const running = this.#last.then(() => this.#run({ words, cwd, environment: whole }))
      this.#last = running.catch(() => undefined)
      return running
    })
  }

  async stop(): Promise<void> {
    this.#process.disconnect()
    await this.#process.exited
  }

  async #run(line: Omit<Line, 'number'>): Promise<Ended> {
    const number = ++this.#count
    this.#process.send({ ...line, number } satisfies Line)
    const [stdout, stderr] = await Promise.all([this.#stdout.until(number), this.#stderr.until(number)])
    return { code: stdout.code, stdout: stdout.text, stderr: stderr.text }
  }
}

/** Takes the lines that `Shell` takes, as far as they are words with double quotes around some of them. */
export class ResidentShell {
  readonly #run: (words: readonly string[], environment: Environment) => Promise<Ended>

  constructor(run: (words: readonly string[], environment: Environment) => Promise<Ended>) {
    this.#run = run
  }

  run(line: string, environment: Environment = {}): Promise<Ended> {
    return this.runWords(wordsOf(line), environment)
  }

  /** The words behind `strand`. */
  runWords(words: readonly string[], environment: Environment = {}): Promise<Ended> {
    return this.#run(words, environment)
  }

  /** Runs lines, joined by `&&`, that must succeed, and gives what they print. */
  async output(lines: string, environment: Environment = {}): Promise<string> {
    let printed = ''
    for (const line of lines.split(' && ')) {
      const { code, stdout, stderr } = await this.run(line, environment)
      if (code !== 0) throw new Error(`${line}\nended with ${code}: ${stderr}`)
      printed += stdout
    }
    return printed
  }

  /** The same with `--json`: the rows of the answer. */
  // biome-ignore lint/suspicious/noExplicitAny: a row is whatever the server sent
  async ask(line: string, environment: Environment = {}): Promise<any[]> {
    const text = await this.output(`${line} --json`, environment)
    return text === '' ? [] : JSON.parse(text).data
  }
}

class Output {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>
  readonly #decoder = new TextDecoder()
  #text = ''

  constructor(stream: ReadableStream<Uint8Array>) {
    this.#reader = stream.getReader()
  }

  /** The output of a line, which is the next that ends. */
  async until(number: number): Promise<{ text: string; code: number }> {
    for (;;) {
      const [whole, text = '', ended, code] = END.exec(this.#text) ?? []
      if (whole !== undefined) {
        if (Number(ended) !== number) throw new Error(`line ${ended} ended while line ${number} ran`)
        this.#text = this.#text.slice(whole.length)
        return { text, code: Number(code) }
      }
      const { value, done } = await this.#reader.read()
      if (done) throw new Error(`strand ended: ${this.#text}`)
      this.#text += this.#decoder.decode(value, { stream: true })
    }
  }
}

function wordsOf(line: string): string[] {
  const [program, ...words] = [...line.matchAll(/"([^"]*)"|[^\s"]+/g)].map(([word, quoted]) => quoted ?? word)
  if (program !== 'strand' || /[|<>$'\\;&]/.test(line)) throw new Error(`only a shell can run: ${line}`)
  return words
}
