import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'

/** The first line of standard input; empty if there is none. At a terminal it is asked for, and not shown. */
export async function readSecret(what: string): Promise<string> {
  const isTerminal = process.stdin.isTTY === true
  if (isTerminal) process.stderr.write(`${what}: `)
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input: process.stdin, output: nowhere, terminal: isTerminal })
  const [line] = await Promise.race([once(lines, 'line'), once(lines, 'close').then(() => [''])])
  lines.close()
  if (isTerminal) process.stderr.write('\n')
  return line
}
