import { once } from 'node:events'
import { MAX_SECRET_FILE, readSmallInput } from '../../kit/small-file.ts'

const NEWLINE = 0x0a

/** Reads the first line of standard input, or prompts for it at a terminal without echo. Empty if there is none. */
export function readSecret(what: string): Promise<string> {
  return process.stdin.isTTY === true ? askForSecret(what) : readFirstLine()
}

/** Prompts for a line at the terminal without echo. */
export async function askForSecret(what: string): Promise<string> {
  const [{ createInterface }, { Writable }] = await Promise.all([
    import('node:readline'),
    import('node:stream'),
  ])
  const discard = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input: process.stdin, output: discard, terminal: true })
  // The prompt comes after the line above: only then is echo off.
  process.stderr.write(`${what}: `)
  const [line] = await Promise.race([once(lines, 'line'), once(lines, 'close').then(() => [''])])
  lines.close()
  process.stderr.write('\n')
  return line
}

async function readFirstLine(): Promise<string> {
  async function* untilNewline(): AsyncGenerator<Uint8Array> {
    for await (const piece of Bun.stdin.stream()) {
      yield piece
      if (piece.includes(NEWLINE)) return
    }
  }
  const text = await readSmallInput(untilNewline(), MAX_SECRET_FILE)
  return text.split(/\r?\n/)[0] ?? ''
}
