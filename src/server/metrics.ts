/**
 * The text of /metrics: the metrics of every service, plus those of the process and its disk. No metric contains a name, an
 * id or a secret.
 */
import { statfsSync } from 'node:fs'
import { measurePasswordHashes } from '../auth/password-hash.ts'
import { passwords } from '../auth/passwords.ts'
import { VERSION } from '../config/version.ts'
import { logLines } from '../kit/telemetry/log.ts'
import { exposition, type Measured, type MetricFamily, Metrics } from '../kit/telemetry/metrics.ts'
import { ProcessMetrics } from '../kit/telemetry/process-metrics.ts'

/** Collects the metrics of all processes on the same port, distinguished by a label. */
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

  families(): Promise<readonly MetricFamily[]> {
    return this.#all()
  }

  stop(): void {
    this.#process.stop()
  }

  #own(): readonly MetricFamily[] {
    const { engine, dataFolder, services } = this.#options
    const metrics = new Metrics()
    metrics.gauge('strand_build_info', 'Build information.', [
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

/** Sweeps of expired rows by this process. */
class Sweeps implements Measured {
  #rows = 0
  readonly #turns = { done: 0, failed: 0 }

  /** Counts a sweep and the rows it reports as removed. */
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
      'Sweeps of the store by this process, by outcome.',
      Object.entries(this.#turns).map(([outcome, count]) => [{ outcome }, count]),
    )
    metrics.counter('strand_swept_rows_total', 'Expired rows removed by sweeps.', this.#rows)
  }
}

function measureDisk(folder: string, metrics: Metrics): void {
  const disk = readDiskSpace(folder)
  if (disk === undefined) return
  const { bavail, blocks, bsize } = disk
  metrics.gauge('strand_data_disk_free_bytes', 'Free space on the disk of the data folder.', bavail * bsize)
  metrics.gauge('strand_data_disk_size_bytes', 'Size of the disk of the data folder.', blocks * bsize)
}

/** Undefined if the folder is gone; the other metrics are still needed then. */
function readDiskSpace(folder: string) {
  try {
    return statfsSync(folder)
  } catch {
    return undefined
  }
}
