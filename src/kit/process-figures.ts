/** What a process can tell of itself. The names without `strand_` are those that every program uses for them. */
import { readdirSync } from 'node:fs'
import type { Figures } from './figures.ts'
import { Histogram, SECONDS } from './histogram.ts'

const LOOK_MILLISECONDS = 250
const OPEN_FILES = '/proc/self/fd'

export class ProcessFigures {
  readonly #startedAt = Date.now() / 1000 - process.uptime()
  /** How late a timer is told: as late as every request that came meanwhile. */
  readonly #delays = new Histogram(SECONDS)
  readonly #timer: Timer

  constructor() {
    let due = performance.now() + LOOK_MILLISECONDS
    this.#timer = setInterval(() => {
      const now = performance.now()
      this.#delays.note(Math.max(0, now - due) / 1000)
      due = now + LOOK_MILLISECONDS
    }, LOOK_MILLISECONDS)
    this.#timer.unref()
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  measure(figures: Figures): void {
    const { rss, heapUsed } = process.memoryUsage()
    const { user, system } = process.cpuUsage()
    figures.gauge('process_start_time_seconds', 'When the process started, in Unix time.', this.#startedAt)
    figures.counter(
      'process_cpu_seconds_total',
      'Processor time of all threads.',
      (user + system) / 1_000_000,
    )
    figures.gauge('process_resident_memory_bytes', 'Memory that the process takes.', rss)
    figures.gauge('strand_heap_bytes', 'Memory of living and not yet collected objects.', heapUsed)
    figures.histogram(
      'strand_event_loop_delay_seconds',
      'How late the event loop is, looked at four times a second.',
      this.#delays,
    )
    const files = openFiles()
    if (files !== undefined) figures.gauge('process_open_fds', 'Open files and connections.', files)
  }
}

/** Told by Linux alone. */
function openFiles(): number | undefined {
  try {
    return readdirSync(OPEN_FILES).length
  } catch {
    return undefined
  }
}
