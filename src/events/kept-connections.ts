/** Open connections to receivers that have no request. They are closed after four seconds. */
import type { ReceiverConnection } from './receiver-connection.ts'

/** Shorter than what common servers wait for the next request, which is 5 s and more. */
const IDLE_MILLISECONDS = 4000
const MAX_CONNECTIONS = 256

interface Kept {
  readonly origin: string
  readonly connection: ReceiverConnection
  readonly since: number
}

export class KeptConnections {
  /** The longest idle one comes first. */
  readonly #all = new Set<Kept>()
  readonly #byOrigin = new Map<string, Kept[]>()
  #timer: Timer | undefined
  #isClosed = false

  keep(origin: string, connection: ReceiverConnection): void {
    if (this.#isClosed || this.#all.size >= MAX_CONNECTIONS) {
      connection.close()
      return
    }
    const kept = { origin, connection, since: performance.now() }
    this.#all.add(kept)
    const others = this.#byOrigin.get(origin)
    if (others === undefined) this.#byOrigin.set(origin, [kept])
    else others.push(kept)
    connection.onClose = () => this.#remove(kept)
    this.#timer ??= setTimeout(() => this.#closeIdle(), IDLE_MILLISECONDS)
  }

  /** The connection that was used last: the others may be closed. */
  take(origin: string): ReceiverConnection | undefined {
    const kept = this.#byOrigin.get(origin)?.at(-1)
    if (kept === undefined) return undefined
    this.#remove(kept)
    return kept.connection
  }

  close(): void {
    this.#isClosed = true
    for (const { connection } of [...this.#all]) connection.close()
    clearTimeout(this.#timer)
  }

  #closeIdle(): void {
    this.#timer = undefined
    const now = performance.now()
    for (const { connection, since } of [...this.#all]) {
      const left = since + IDLE_MILLISECONDS - now
      if (left > 0) {
        this.#timer = setTimeout(() => this.#closeIdle(), left)
        return
      }
      connection.close()
    }
  }

  #remove(kept: Kept): void {
    if (!this.#all.delete(kept)) return
    kept.connection.onClose = () => undefined
    const others = this.#byOrigin.get(kept.origin) ?? []
    others.splice(others.indexOf(kept), 1)
    if (others.length === 0) this.#byOrigin.delete(kept.origin)
  }
}
