/**
 * Sheds connections before a process runs out of file descriptors. Without that, the runtime would retry accepting the next
 * connection in a loop, which takes a whole core, and no store file or PostgreSQL connection could be opened. So some
 * descriptors are reserved. When only those are left, the listener is closed: requests in flight finish, idle connections
 * are closed, and the system refuses new ones, so that a proxy can try another node. The listener is reopened as soon as
 * enough descriptors are free, which is usually at once.
 */
import { descriptorLimit, nextDescriptor, openDescriptors } from '../../kit/telemetry/descriptors.ts'
import type { Log } from '../../kit/telemetry/log.ts'
import type { Measured, Metrics } from '../../kit/telemetry/metrics.ts'
import type { Listening } from '../listen.ts'

const CHECK_MILLISECONDS = 100
/** Minimum time between log lines. */
const WARNING_MILLISECONDS = 60_000
const MIN_RESERVED = 16
const MAX_RESERVED = 1024

/** The number of reserved descriptors: a tenth, within bounds. */
export function reservedPlaces(limit: number): number {
  return Math.min(Math.max(Math.floor(limit / 10), MIN_RESERVED), MAX_RESERVED)
}

/** A listener that can be closed and reopened on the same port. */
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

/** Closes the public listener when descriptors run short, and reopens it when enough are free. */
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
    this.#timer = setInterval(() => this.#check(listener), CHECK_MILLISECONDS)
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

  #check(listener: SheddingListener): void {
    const reserved = reservedPlaces(this.#limit)
    if (!listener.isOpen) this.#reopenIfPossible(listener, this.#limit - 2 * reserved)
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
      'file descriptors ran short: idle connections were closed and new ones are refused for now; raise the limit (LimitNOFILE in the systemd unit, ulimit -n in a shell) or limit connections in the proxy',
    )
  }

  #reopenIfPossible(listener: SheddingListener, maxOpen: number): void {
    const open = openDescriptors()
    if (open === undefined || open > maxOpen) return
    try {
      listener.reopen()
    } catch (error) {
      this.#log.error({ error: String(error) }, 'the listener could not be reopened; retrying')
    }
  }
}
