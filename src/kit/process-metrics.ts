/** What a process can tell of itself. The names without `strand_` are those that every program uses for them. */
import { descriptorLimit, openDescriptors } from './descriptors.ts'
import { Histogram, SECONDS } from './histogram.ts'
import type { Metrics } from './metrics.ts'

const LOOK_MILLISECONDS = 250

export class ProcessMetrics {
  readonly #startedAt = Date.now() / 1000 - process.uptime()
  /** How late a timer is told: as late as every request that came meanwhile. */
  readonly #delays = new Histogram(SECONDS)
  readonly #timer: Timer
  readonly #descriptorLimit = descriptorLimit()

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

  measure(metrics: Metrics): void {
    const { user, system } = process.cpuUsage()
    metrics.gauge('process_start_time_seconds', 'When the process started, in Unix time.', this.#startedAt)
    metrics.counter(
      'process_cpu_seconds_total',
      'Processor time of all threads.',
      (user + system) / 1_000_000,
    )
    const memory = memoryInUse()
    if (memory !== undefined) {
      metrics.gauge('process_resident_memory_bytes', 'Memory that the process takes.', memory.rss)
      metrics.gauge('strand_heap_bytes', 'Memory of living and not yet collected objects.', memory.heapUsed)
    }
    metrics.histogram(
      'strand_event_loop_delay_seconds',
      'How late the event loop is, looked at four times a second.',
      this.#delays,
    )
    const open = openDescriptors()
    if (open !== undefined) metrics.gauge('process_open_fds', 'Open files and connections.', open)
    if (this.#descriptorLimit === undefined) return
    metrics.gauge('process_max_fds', 'Maximum number of open files and connections.', this.#descriptorLimit)
  }
}

/** The runtime asks the system through a file: where no descriptor is left, the other metrics are wanted all the more. */
function memoryInUse() {
  try {
    return process.memoryUsage()
  } catch {
    return undefined
  }
}
