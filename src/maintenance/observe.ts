/** Observations for `strand doctor`: the machine, the data folder and the network. `checks.ts` interprets them. */

import {
  closeSync,
  existsSync,
  fdatasyncSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  statSync,
  writeSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { totalmem } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import type { Address } from '../config/config.ts'
import { DATA_FILES } from '../config/data-folder.ts'
import { assertDefined } from '../kit/assert-defined.ts'
import { uuid } from '../kit/id.ts'
import { Bucket, type BucketOptions } from '../media/bucket.ts'
import type { ObservedBucket, ObservedFile, ObservedListener } from './checks.ts'

const SYNCS = 15
const PAGE_BYTES = 4096
const REQUEST_MILLISECONDS = 5000
const MOST_NAMES = 100_000
const STREAM_KEY = /live_[0-9]{1,19}_[A-Za-z0-9]{30}/

export function readFolder(folder: string): { folder: ObservedFile; files: ObservedFile[]; names: string[] } {
  const observe = (name: string): ObservedFile => {
    const { mode, uid } = statSync(name)
    return { name, mode, owner: uid }
  }
  const names = readdirSync(folder)
  const files = names.filter(name => DATA_FILES.includes(name)).map(name => observe(join(folder, name)))
  return { folder: observe(folder), files, names }
}

/** The paths below a folder whose names contain a stream key. Reads a limited number of names. */
export function findStreamKeys(folder: string): string[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return names.slice(0, MOST_NAMES).filter(name => STREAM_KEY.test(name))
}

/** Of the disk that the folder is on, or would be created on. */
export function readSpace(folder: string): { free: number; total: number } {
  let path = resolve(folder)
  while (!existsSync(path)) path = dirname(path)
  const { bavail, blocks, bsize } = statfsSync(path)
  return { free: bavail * bsize, total: blocks * bsize }
}

/** The median time to make a small write durable, in milliseconds. */
export function measureSync(folder: string): number {
  const file = join(folder, `.disk-speed-${process.pid}`)
  const handle = openSync(file, 'wx', 0o600)
  try {
    const page = Buffer.alloc(PAGE_BYTES)
    const times = Array.from({ length: SYNCS }, (_, index) => {
      const began = performance.now()
      writeSync(handle, page, 0, PAGE_BYTES, index * PAGE_BYTES)
      fdatasyncSync(handle)
      return performance.now() - began
    })
    return assertDefined(times.toSorted((a, b) => a - b)[Math.floor(SYNCS / 2)], 'the median')
  } finally {
    closeSync(handle)
    rmSync(file)
  }
}

/** The memory available to this process: that of the machine, or the limit of its container. */
export function readMemory(): number {
  const file = '/sys/fs/cgroup/memory.max'
  const limit = existsSync(file) ? Number.parseInt(readFileSync(file, 'utf8'), 10) : 0
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem()
}

/** Seconds by which the local clock is ahead of that of a server. Its Date header has whole seconds. */
export async function readClockAt(url: string): Promise<number | { readonly failure: string }> {
  try {
    const began = Date.now()
    const response = await fetch(url, {
      signal: AbortSignal.timeout(REQUEST_MILLISECONDS),
      redirect: 'manual',
    })
    const remote = Date.parse(response.headers.get('date') ?? '')
    if (Number.isNaN(remote)) return { failure: 'the response has no Date header' }
    return ((began + Date.now()) / 2 - (remote + 500)) / 1000
  } catch (error) {
    return { failure: (error as Error).message }
  }
}

/** Writes, reads and deletes an object, as uploads and pages of this site do. */
export async function probeBucket(options: BucketOptions, origin: string): Promise<ObservedBucket> {
  const bucket = new Bucket({ ...options, answerMilliseconds: REQUEST_MILLISECONDS })
  const key = `doctor-${uuid()}.txt`
  const text = 'strand doctor'
  let step: 'write' | 'read' | 'delete' = 'write'
  try {
    await bucket.put(key, text)
    step = 'read'
    const response = await bucket.read(key, { Origin: origin, Range: 'bytes=0-5' }).finally(async () => {
      step = 'delete'
      await bucket.remove(key)
      step = 'read'
    })
    const hasRange = response.status === 206 && (await response.text()) === text.slice(0, 6)
    return { allowedOrigin: response.headers.get('access-control-allow-origin'), hasRange }
  } catch (error) {
    return { failedTo: step, failure: (error as Error).message }
  }
}

/** Whether a program listens on an address, and whether it is Strand. Binds the port briefly to find out. */
export async function probeListener({ host, port }: Address): Promise<ObservedListener> {
  // Port 0 means any free port.
  if (port === 0) return 'free'
  const bound = host === 'localhost' ? '127.0.0.1' : host
  const failure = await tryToListen(bound, port)
  if (failure === undefined) return 'free'
  if (failure !== 'EADDRINUSE') return { failure }
  const reached = bound === '0.0.0.0' ? '127.0.0.1' : bound === '::' ? '::1' : bound
  return (await isStrandAt(`http://${reached.includes(':') ? `[${reached}]` : reached}:${port}`))
    ? 'strand'
    : 'other'
}

function tryToListen(host: string, port: number): Promise<string | undefined> {
  return new Promise(resolve => {
    const server = createServer()
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)))
  })
}

/** Strand responds to a health check with a request id, even while it starts. */
async function isStrandAt(url: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/healthz`, {
      signal: AbortSignal.timeout(REQUEST_MILLISECONDS),
      redirect: 'manual',
    })
    const body = (await response.json()) as { status?: unknown }
    return response.headers.has('x-request-id') && body.status === 'ok'
  } catch {
    return false
  }
}
