/** The load generator for rates: wrk on the core that the servers do not have. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { LOAD_CORE, type Processes } from './processes.ts'
import { type BenchRequest, headersOf, requestBytes } from './request.ts'

interface WrkLoad {
  /** From `wrkTarget`. */
  readonly target: readonly string[]
  /** The body of a typical answer. Less than half of it on average means that something else was answered. */
  readonly bodyBytes: number
  readonly connections: number
  readonly seconds: number
}

/** Reads requests, each after a line with its length. */
const SCRIPT = `local requests, last = {}, 0
function init(arguments)
  local file = io.open(arguments[1], "rb")
  local length = file:read("*n")
  while length do
    file:read(1)
    requests[#requests + 1] = file:read(length)
    length = file:read("*n")
  end
end
function request()
  last = last % #requests + 1
  return requests[last]
end
`

/**
 * Runs wrk once. An answer other than 2xx, a broken connection, a script that does not load (wrk then asks for /) or
 * answers that are too short make the result worthless and are errors.
 */
export async function runWrk(processes: Processes, { target, bodyBytes, connections, seconds }: WrkLoad) {
  const wrk = ['wrk', '--latency', '-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '10s']
  const output = await processes.output(LOAD_CORE, [...wrk, ...target])
  const refused = /Non-2xx or 3xx responses: (\d+)/.exec(output)?.[1]
  if (refused !== undefined) throw new Error(`${refused} answers were not 2xx`)
  const broken = /Socket errors: (.+)/.exec(output)?.[1]
  if (broken !== undefined) throw new Error(`connections broke: ${broken}`)
  const [, answers, read, unit] = /(\d+) requests in [^,]+, ([0-9.]+)([KMG]?B) read/.exec(output) ?? []
  const factor = { B: 1, KB: 2 ** 10, MB: 2 ** 20, GB: 2 ** 30 }[unit ?? ''] ?? Number.NaN
  if (!((Number(read) * factor) / Number(answers) > bodyBytes / 2))
    throw new Error(`the answers are shorter than the ${bodyBytes} bytes expected:\n${output}`)
  const [, p99, p99Unit] = /99%\s+([0-9.]+)(us|ms|s)/.exec(output) ?? []
  const milliseconds = { us: 0.001, ms: 1, s: 1000 }[p99Unit ?? ''] ?? Number.NaN
  return {
    perSecond: Number(/Requests\/sec:\s+([0-9.]+)/.exec(output)?.[1]),
    p99: Number(p99) * milliseconds,
  }
}

/** What wrk is to ask a server for, in a circle. One request needs no script, which wrk would run for each. */
export function wrkTarget(folder: string, url: string, requests: readonly BenchRequest[]): string[] {
  const [only] = requests
  if (requests.length === 1 && only !== undefined && only.method === undefined) {
    const headers = Object.entries(headersOf(only)).flatMap(([name, value]) => ['-H', `${name}: ${value}`])
    return [...headers, url + only.path]
  }
  const [script, file] = [join(folder, 'wrk.lua'), join(folder, `requests-${performance.now()}`)]
  const parts = requests.flatMap(request => {
    const bytes = requestBytes(new URL(url), request)
    return [Buffer.from(`${bytes.length}\n`), bytes, Buffer.from('\n')]
  })
  writeFileSync(script, SCRIPT)
  writeFileSync(file, Buffer.concat(parts))
  return ['-s', script, url, '--', file]
}

export function requireWrk(): void {
  const missing = ['wrk', 'taskset'].filter(tool => Bun.which(tool) === null)
  if (missing.length > 0)
    throw new Error(`${missing.join(' and ')} not found: install wrk and util-linux (Linux only)`)
}
