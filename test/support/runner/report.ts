/** What Bun's test runner writes about the tests of a run, read while it comes. */

const EXPLAINED_LINES = 60
/** Counted to the time of a test: its hooks start servers, browsers and encoders. */
const HOOKS_MILLISECONDS = 30_000

export interface Failure {
  readonly file: string
  /** What was written about it. */
  readonly explanation: string
  /** When its test ran, on the clock of `performance`. */
  readonly from: number
  readonly to: number
}

export type Count = 'pass' | 'fail' | 'skip' | 'error'

export class Report {
  readonly failures: Failure[] = []
  readonly #counts = new Map<string, number>()
  #rest = ''
  #file = ''
  #lines: string[] = []
  #isSummary = false

  add(text: string): void {
    const lines = (this.#rest + text).split('\n')
    this.#rest = lines.pop() ?? ''
    for (const line of lines) this.#read(line)
  }

  count(word: Count): number {
    return this.#counts.get(word) ?? 0
  }

  #read(line: string): void {
    const [, number, word] = /^\s*(\d+) (pass|fail|skip|error)s?$/.exec(line) ?? []
    if (word !== undefined) this.#counts.set(word, Number(number))
    // The summary repeats the names of failures.
    if (/^\d+ tests? failed:$/.test(line)) this.#isSummary = true
    if (this.#isSummary) return
    const [, file] = /^(test\/\S+\.ts):$/.exec(line) ?? []
    if (file !== undefined) this.#file = file
    if (line.startsWith('(fail) ')) this.#fail(line)
    if (file !== undefined || /^\((?:pass|fail|skip)\) /.test(line)) this.#lines = []
    else this.#lines.push(line)
  }

  #fail(line: string): void {
    const to = performance.now()
    const took = Number(/\[([0-9.]+)ms\]$/.exec(line)?.[1] ?? 0)
    this.failures.push({
      file: this.#file,
      explanation: [`${this.#file}:`, ...this.#lines.slice(-EXPLAINED_LINES), line].join('\n'),
      from: to - took - HOOKS_MILLISECONDS,
      to,
    })
  }
}
