/** Metrics of the process. Names without `strand_` follow the Prometheus conventions for process metrics. */
import { descriptorLimit, openDescriptors } from './descriptors.ts'
import { Histogram, SECONDS } from './histogram.ts'
import type { Metrics } from './metrics.ts'

const PROBE_MILLISECONDS = 250

export class ProcessMetrics {
  readonly #startedAt = Date.now() / 1000 - process.uptime()
  /** How late a timer fires: requests that arrive meanwhile wait as long. */
  readonly #delays = new Histogram(SECONDS)
  readonly #timer: Timer
  readonly #descriptorLimit = descriptorLimit()

  constructor() {
    let due = performance.now() + PROBE_MILLISECONDS
    this.#timer = setInterval(() => {
      const now = performance.now()
      this.#delays.note(Math.max(0, now - due) / 1000)
      due = now + PROBE_MILLISECONDS
    }, PROBE_MILLISECONDS)
    this.#timer.unref()
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  measure(metrics: Metrics): void {
    const { user, system } = process.cpuUsage()
    metrics.gauge(
      'process_start_time_seconds',
      'Start time of the process, in Unix seconds.',
      this.#startedAt,
    )
    metrics.counter('process_cpu_seconds_total', 'CPU time of all threads.', (user + system) / 1_000_000)
    const memory = memoryInUse()
    if (memory !== undefined) {
      metrics.gauge('process_resident_memory_bytes', 'Resident memory of the process.', memory.rss)
      metrics.gauge(
        'strand_heap_bytes',
        'Heap memory in use, including uncollected objects.',
        memory.heapUsed,
      )
    }
    metrics.histogram(
      'strand_event_loop_delay_seconds',
      'Delay of the event loop, sampled four times a second.',
      this.#delays,
    )
    const open = openDescriptors()
    if (open !== undefined) metrics.gauge('process_open_fds', 'Open files and connections.', open)
    if (this.#descriptorLimit === undefined) return
    metrics.gauge('process_max_fds', 'Maximum number of open files and connections.', this.#descriptorLimit)
  }
}

/** The runtime reads a file for this, which fails without a free descriptor; the other metrics matter most then. */
function memoryInUse() {
  try {
    return process.memoryUsage()
  } catch {
    return undefined
  }
}
