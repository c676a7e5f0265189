/**
 * What happens when a process runs out of file descriptors. The runtime would try to accept the next connection over and
 * over, which takes a whole core, and nothing else could be opened either: no file of the store, no connection to
 * PostgreSQL. So some descriptors are kept free. When only those are left, the listener is closed: answers under way are
 * finished, connections that only wait are cut, and new ones are refused by the system, where a proxy can ask another node.
 * As soon as there is room again, and that is mostly at once, the listener is opened again.
 */
import { descriptorLimit, nextDescriptor, openDescriptors } from '../kit/descriptors.ts'
import type { Log } from '../kit/log.ts'
import type { Measured, Metrics } from '../kit/metrics.ts'
import type { Listening } from './server.ts'

const LOOK_MILLISECONDS = 100
/** How often the log says it. */
const WARNING_MILLISECONDS = 60_000
const MIN_RESERVED = 16
const MAX_RESERVED = 1024

/** How many descriptors are kept free: a tenth, within limits. */
export function reservedOf(limit: number): number {
  return Math.min(Math.max(Math.floor(limit / 10), MIN_RESERVED), MAX_RESERVED)
}

/** A listener that can be closed and opened again on the same port. */
export class SheddingListener implements Listening {
  readonly port: number
  readonly #open: (port: number) => Listening
  readonly #closing = new Set<Promise<void>>()
  #current: Listening | undefined
  #isDraining = false

  constructor(open: (port: number) => Listening, port: number) {
    this.#open = open
    this.#current = open(port)
    this.port = this.#current.port
  }

  get isOpen(): boolean {
    return this.#current !== undefined
  }

  drain(): void {
    this.#isDraining = true
    this.#current?.drain()
  }

  close(): void {
    const closing = this.#current?.stop()
    this.#current = undefined
    if (closing === undefined) return
    this.#closing.add(closing)
    void closing.finally(() => this.#closing.delete(closing))
  }

  reopen(): void {
    this.#current ??= this.#open(this.port)
    if (this.#isDraining) this.#current.drain()
  }

  async stop(): Promise<void> {
    this.close()
    await Promise.all(this.#closing)
  }
}

/** Closes and reopens the listener that strangers reach, as descriptors run short and are there again. */
export class DescriptorGuard implements Measured {
  readonly #log: Log
  readonly #limit = descriptorLimit() ?? Number.POSITIVE_INFINITY
  #timer: Timer | undefined
  #warnedAt = Number.NEGATIVE_INFINITY
  #shortages = 0

  constructor(log: Log) {
    this.#log = log
  }

  watch(listener: SheddingListener): void {
    if (!Number.isFinite(this.#limit)) return
    this.#timer = setInterval(() => this.#look(listener), LOOK_MILLISECONDS)
    this.#timer.unref()
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  measure(metrics: Metrics): void {
    metrics.counter(
      'strand_descriptor_shortages_total',
      'Times the listener was closed because file descriptors ran short.',
      this.#shortages,
    )
  }

  #look(listener: SheddingListener): void {
    const reserved = reservedOf(this.#limit)
    if (!listener.isOpen) this.#reopenIfRoom(listener, this.#limit - 2 * reserved)
    else if (nextDescriptor() >= this.#limit - reserved) this.#shed(listener)
  }

  #shed(listener: SheddingListener): void {
    this.#shortages += 1
    listener.close()
    const now = performance.now()
    if (now - this.#warnedAt < WARNING_MILLISECONDS) return
    this.#warnedAt = now
    this.#log.error(
      { limit: this.#limit, shortages: this.#shortages },
      'file descriptors ran short, so idle connections were closed and new ones are refused for now: raise the limit (LimitNOFILE in the systemd unit, ulimit -n in a shell), or limit the connections in the proxy',
    )
  }

  #reopenIfRoom(listener: SheddingListener, most: number): void {
    const open = openDescriptors()
    if (open === undefined || open > most) return
    try {
      listener.reopen()
    } catch (error) {
      this.#log.error({ error: String(error) }, 'the listener could not be opened again; trying again')
    }
  }
}
