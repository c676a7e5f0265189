import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { MAX_SECRET_FILE, readSmallInput } from '../../kit/small-file.ts'

const NEWLINE = 0x0a

/** The first line of standard input; empty if there is none. At a terminal it is asked for, and not shown. */
export function readSecret(what: string): Promise<string> {
  return process.stdin.isTTY === true ? askForSecret(what) : readFirstLine()
}

/** What a person types at the terminal, without showing it. */
export async function askForSecret(what: string): Promise<string> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input: process.stdin, output: nowhere, terminal: true })
  // Asked only now: until then the terminal would have shown what is typed.
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
