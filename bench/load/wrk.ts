/** The load generator for rates: wrk on the core that the servers do not have. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Bench, LoadResult } from '../bench.ts'
import { type Load, requestBytes } from './http.ts'
import { LOAD_CORE, type Served } from './processes.ts'
import { processorSecondsOf } from './usage.ts'

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

const CONNECTIONS = 32
const SETTLE_MILLISECONDS = 50

/** Loads a server for so long. */
export type LoadedServer = (seconds: number) => Promise<LoadResult>

/** wrk leaves when its time is over, and what it had asked for is still worked on: that ends first. */
export function loadOn(bench: Bench, { url, pid }: Served, { requests, body }: Load): LoadedServer {
  const folder = bench.folder(`load-${pid}`)
  const [script, file] = [join(folder, 'wrk.lua'), join(folder, `requests-${performance.now()}`)]
  const parts = requests.flatMap(request => {
    const bytes = requestBytes(url, request)
    return [Buffer.from(`${bytes.length}\n`), bytes, Buffer.from('\n')]
  })
  writeFileSync(script, SCRIPT)
  writeFileSync(file, Buffer.concat(parts))
  const wrk = ['wrk', '--latency', '-t1', `-c${CONNECTIONS}`, '--timeout', '10s', '-s', script]
  return async seconds => {
    const before = processorSecondsOf(pid)
    const output = await bench.processes.output(LOAD_CORE, [...wrk, `-d${seconds}s`, url, '--', file])
    const { perSecond, p99 } = readOutput(output, body.length)
    await (await fetch(`${url}/healthz`)).arrayBuffer()
    await Bun.sleep(SETTLE_MILLISECONDS)
    return { perSecond, p99, cost: (1e6 * (processorSecondsOf(pid) - before)) / (perSecond * seconds) }
  }
}

/**
 * An answer other than 2xx, a broken connection, a script that does not load (wrk then asks for /) or answers that are on
 * average less than half as long as a typical one make the result worthless and are errors.
 */
function readOutput(output: string, bodyBytes: number) {
  const failed = /Non-2xx or 3xx responses: \d+|Socket errors: .+/.exec(output)?.[0]
  if (failed !== undefined) throw new Error(failed)
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
