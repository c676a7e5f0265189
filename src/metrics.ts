/**
 * What /metrics shows: every room writes down what it has counted, and this adds what belongs to none of them. Nothing here
 * names a person, an id or a secret.
 */
import { statfsSync } from 'node:fs'
import { measurePasswordHashes } from './auth/password-hash.ts'
import { passwords } from './auth/passwords.ts'
import { logLines } from './kit/log.ts'
import { exposition, type Measured, type MetricFamily, Metrics } from './kit/metrics.ts'
import { ProcessMetrics } from './kit/process-metrics.ts'
import { VERSION } from './version.ts'

/** Asks the other processes on the same port for theirs, and gives all of them, told apart by a label. */
export type GatherMetrics = (own: () => readonly MetricFamily[]) => () => Promise<readonly MetricFamily[]>

interface MetricsOptions {
  readonly engine: string
  readonly dataFolder: string
  readonly services: readonly Measured[]
  readonly gather: GatherMetrics | undefined
}

export class MetricsExporter {
  readonly sweeps = new Sweeps()
  readonly #process = new ProcessMetrics()
  readonly #options: MetricsOptions
  readonly #all: () => Promise<readonly MetricFamily[]>

  constructor(options: MetricsOptions) {
    this.#options = options
    const own = () => this.#own()
    this.#all = options.gather?.(own) ?? (async () => own())
  }

  async text(): Promise<string> {
    return exposition(await this.#all())
  }

  stop(): void {
    this.#process.stop()
  }

  #own(): readonly MetricFamily[] {
    const { engine, dataFolder, services } = this.#options
    const metrics = new Metrics()
    metrics.gauge('strand_build_info', 'Which Strand this is; always 1.', [
      [{ version: VERSION, runtime: `bun ${Bun.version}`, store: engine }, 1],
    ])
    this.#process.measure(metrics)
    measureDisk(dataFolder, metrics)
    for (const service of services) service.measure(metrics)
    passwords.measure(metrics)
    measurePasswordHashes(metrics)
    logLines.measure(metrics)
    this.sweeps.measure(metrics)
    return metrics.families
  }
}

/** How often what has run out was removed from the store, by this process. */
class Sweeps implements Measured {
  #rows = 0
  readonly #turns = { done: 0, failed: 0 }

  /** Counts a turn, and the rows of which it tells that they are removed. */
  async during(sweep: (removed: (rows: number) => void) => Promise<void>): Promise<void> {
    let outcome: 'done' | 'failed' = 'failed'
    try {
      await sweep(rows => {
        this.#rows += rows
      })
      outcome = 'done'
    } finally {
      this.#turns[outcome] += 1
    }
  }

  measure(metrics: Metrics): void {
    metrics.counter(
      'strand_sweeps_total',
      'Turns of sweeping the store that this process took, by outcome.',
      Object.entries(this.#turns).map(([outcome, count]) => [{ outcome }, count]),
    )
    metrics.counter('strand_swept_rows_total', 'Rows removed because they had run out.', this.#rows)
  }
}

function measureDisk(folder: string, metrics: Metrics): void {
  const disk = diskOf(folder)
  if (disk === undefined) return
  const { bavail, blocks, bsize } = disk
  metrics.gauge('strand_data_disk_free_bytes', 'Free space where the data folder is.', bavail * bsize)
  metrics.gauge('strand_data_disk_size_bytes', 'Size of the disk that the data folder is on.', blocks * bsize)
}

/** Undefined where the folder is gone: all other figures are wanted then more than ever. */
function diskOf(folder: string) {
  try {
    return statfsSync(folder)
  } catch {
    return undefined
  }
}
