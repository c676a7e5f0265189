/**
 * The health listener, in a separate thread: it answers while the main thread is stopped, which one read of a slow disk
 * does to the embedded store (ADR 0057). The main thread counts up in shared memory; a count that stands still means that it
 * does not answer requests either.
 *
 * - `/healthz` is 200 while the main thread has stood still for less than a minute: restarting a process does not make its
 *   disk faster, and a longer stop is probably a bug.
 * - `/readyz` is 200 if the main thread was ready, and has not stood still for longer than 2 s.
 */
import type { HealthStart } from './health-listener.ts'

const LOOK_MILLISECONDS = 100
const MAX_READY_MILLISECONDS = 2000
const MAX_ALIVE_MILLISECONDS = 60_000

declare const self: Worker

self.onmessage = ({ data }: MessageEvent<HealthStart>) => {
  const [count, ready] = [0, 1]
  const state = new Int32Array(data.state)
  let seen = -1
  let movedAt = performance.now()
  const stillMilliseconds = () => {
    const counted = Atomics.load(state, count)
    if (counted !== seen) [seen, movedAt] = [counted, performance.now()]
    return performance.now() - movedAt
  }
  setInterval(stillMilliseconds, LOOK_MILLISECONDS)
  const reply = (isGood: boolean, status: string) =>
    Response.json(
      { status, blocked_seconds: Math.round(stillMilliseconds() / 100) / 10 },
      { status: isGood ? 200 : 503 },
    )
  try {
    const { port } = Bun.serve({
      hostname: data.host,
      port: data.port,
      reusePort: false,
      development: false,
      fetch: request => {
        const { pathname } = new URL(request.url)
        const still = stillMilliseconds()
        const isAlive = still < MAX_ALIVE_MILLISECONDS
        if (pathname === '/healthz') return reply(isAlive, isAlive ? 'ok' : 'blocked')
        const isReady = Atomics.load(state, ready) === 1 && still < MAX_READY_MILLISECONDS
        if (pathname === '/readyz') return reply(isReady, isReady ? 'ready' : 'not ready')
        return new Response(null, { status: 404 })
      },
    })
    self.postMessage({ port })
  } catch (error) {
    const { code, message } = error as { code?: string; message: string }
    self.postMessage({ code, message })
  }
}
