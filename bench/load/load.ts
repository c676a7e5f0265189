/** The load generator: wrk on the core that the servers do not have. */
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type BenchRequest, headersOf } from '../scenarios/scenario.ts'
import { type Children, LOAD_CORE } from './children.ts'

/** What one run of wrk saw. */
export interface LoadResult {
  readonly perSecond: number
  readonly p99: number
}

export interface Load {
  readonly url: string
  /** The body of a typical answer. Less than half of it on average means that something else was answered. */
  readonly bodyBytes: number
  readonly requests: readonly BenchRequest[]
  readonly connections: number
  readonly seconds: number
}

/**
 * Runs wrk once. An answer other than 2xx, a broken connection, a script that does not load (wrk then asks for / and
 * goes on) or answers that are too short make the figure worthless and are errors.
 */
export async function runLoad(children: Children, folder: string, load: Load): Promise<LoadResult> {
  const { url, requests, connections, seconds, bodyBytes } = load
  const wrk = ['wrk', '--latency', '-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '10s']
  const output = await children.output(LOAD_CORE, [...wrk, ...requestArguments(folder, url, requests)])
  const refused = /Non-2xx or 3xx responses: (\d+)/.exec(output)?.[1]
  if (refused !== undefined) throw new Error(`${refused} answers were not 2xx`)
  const broken = /Socket errors: (.*)/.exec(output)?.[1]
  if (broken !== undefined) throw new Error(`connections failed: ${broken}`)
  const [, count, amount, size = ''] = /(\d+) requests in .*, ([0-9.]+)([KMGT]?)B read/.exec(output) ?? []
  // So slow that none came back in time: a figure too.
  if (count === '0') return { perSecond: 0, p99: seconds * 1000 }
  const answerBytes = (Number(amount) * (BYTES[size] ?? Number.NaN)) / Number(count)
  if (!(answerBytes > bodyBytes / 2))
    throw new Error(`answers of ${answerBytes} bytes on average are too short`)
  const perSecond = Number(/Requests\/sec:\s+([0-9.]+)/.exec(output)?.[1])
  const [, latency, unit = ''] = /\b99%\s+([0-9.]+)(us|ms|s|m)/.exec(output) ?? []
  const p99 = Number(latency) * (MILLISECONDS[unit] ?? Number.NaN)
  if (!(perSecond > 0) || Number.isNaN(p99)) throw new Error(`wrk said something else:\n${output}`)
  return { perSecond, p99 }
}

const BYTES: Readonly<Record<string, number>> = { '': 1, K: 1024, M: 1024 ** 2, G: 1024 ** 3, T: 1024 ** 4 }
const MILLISECONDS: Readonly<Record<string, number>> = { us: 0.001, ms: 1, s: 1000, m: 60_000 }

/** One GET is given on the command line; anything else is a script that sends the requests around in a circle. */
export function requestArguments(folder: string, url: string, requests: readonly BenchRequest[]): string[] {
  const [only, ...more] = requests
  if (only === undefined) throw new Error('a scenario needs a request')
  if (more.length === 0 && only.body === undefined) {
    const headers = Object.entries(headersOf(only)).flatMap(([name, value]) => ['-H', `${name}: ${value}`])
    return [...headers, url + only.path]
  }
  const script = join(folder, 'requests.lua')
  writeFileSync(script, luaScript(requests))
  return ['-s', script, url]
}

function luaScript(requests: readonly BenchRequest[]): string {
  const lines = requests.map(request => {
    const headers = Object.entries(headersOf(request)).map(
      ([name, value]) => `[ ${quoted(name)} ] = ${quoted(value)}`,
    )
    const body = request.body === undefined ? 'nil' : quoted(JSON.stringify(request.body))
    return `  add(${quoted(request.method ?? 'GET')}, ${quoted(request.path)}, {${headers.join(', ')}}, ${body})`
  })
  return `local requests, last = {}, 0
local function add(method, path, headers, body)
  requests[#requests + 1] = wrk.format(method, path, headers, body)
end
function init()
${lines.join('\n')}
end
function request()
  last = last % #requests + 1
  return requests[last]
end
`
}

/** A Lua string in long brackets, so that nothing in it needs escaping. */
function quoted(text: string): string {
  if (text.includes(']==]')) throw new Error('this text cannot stand in a script')
  return `[==[${text}]==]`
}

/** Sees to it that wrk is there: installs it where that is one command, else says what to do. */
export async function requireTools(): Promise<void> {
  const isRootOnDebian = process.getuid?.() === 0 && existsSync('/etc/debian_version')
  if (Bun.which('wrk') === null && isRootOnDebian) {
    console.error('bench: wrk is missing; installing it with apt-get')
    for (const words of [['update'], ['install', '-y', 'wrk']]) {
      await Bun.spawn(['apt-get', ...words], { stdout: 'ignore', stderr: 'inherit' }).exited
    }
  }
  const missing = ['wrk', 'taskset'].filter(tool => Bun.which(tool) === null)
  if (missing.length === 0) return
  console.error(
    `bench: ${missing.join(' and ')} not found: install the packages wrk and util-linux (Linux only)`,
  )
  process.exit(1)
}
