/**
 * Opens WebSockets, subscribes on each, and holds them for a while. `bun bench/events/sockets.ts <plan.json>`; prints its
 * result as JSON.
 */
import { readFileSync } from 'node:fs'
import { subscribe } from './subscribe.ts'

export interface SocketsPlan {
  readonly url: string
  readonly count: number
  /** Each user has up to three sockets. */
  readonly users: readonly { readonly id: string; readonly token: string }[]
  /** How long to hold them after all are subscribed. */
  readonly holdSeconds: number
}

export interface SocketsResult {
  readonly openSeconds: number
  readonly subscribeSeconds: number
}

const AT_ONCE = 32
const SOCKETS_OF_USER = 3

/** A WebSocket that has been welcomed. */
export async function openSocket(url: string): Promise<{ socket: WebSocket; session_id: string }> {
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/ws?keepalive_timeout_seconds=60`)
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  socket.onmessage = ({ data }) => resolve(JSON.parse(String(data)).payload.session.id)
  socket.onclose = ({ code }) => reject(new Error(`a WebSocket was closed with ${code}`))
  const session_id = await promise
  socket.onmessage = null
  socket.onclose = null
  return { socket, session_id }
}

/** Opens and subscribes; a socket without a subscription would be closed after ten seconds. */
async function holdSockets({ url, count, users, holdSeconds }: SocketsPlan): Promise<SocketsResult> {
  const sockets: WebSocket[] = []
  let [opening, subscribing, closed, next] = [0, 0, 0, 0]
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      while (next < count) {
        const user = users[Math.floor(next++ / SOCKETS_OF_USER)]
        if (user === undefined) throw new Error('there are too few users for so many sockets')
        const began = performance.now()
        const { socket, session_id } = await openSocket(url)
        const opened = performance.now()
        socket.onclose = () => {
          closed += 1
        }
        sockets.push(socket)
        const condition = { broadcaster_user_id: user.id }
        await subscribe(url, user.token, { type: 'stream.online', condition, transport: { session_id } })
        opening += opened - began
        subscribing += performance.now() - opened
      }
    }),
  )
  await Bun.sleep(holdSeconds * 1000)
  if (closed > 0) throw new Error(`${closed} of ${count} WebSockets were closed`)
  return { openSeconds: opening / AT_ONCE / 1000, subscribeSeconds: subscribing / AT_ONCE / 1000 }
}

if (import.meta.main) {
  const [file = ''] = process.argv.slice(2)
  const plan = JSON.parse(readFileSync(file, 'utf8')) as SocketsPlan
  console.log(JSON.stringify(await holdSockets(plan)))
  process.exit(0)
}
