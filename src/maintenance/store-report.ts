import type { Measured, Metrics } from '../kit/telemetry/metrics.ts'
import type { Store } from '../store/store.ts'

/** Metrics that are queried from the store periodically, not at every scrape. */
export class StoreReport implements Measured {
  readonly #store: Store
  #tables: Awaited<ReturnType<Store['sizes']['tables']>> = []
  #lastBackup: number | undefined

  constructor(store: Store) {
    this.#store = store
  }

  async refresh(): Promise<void> {
    this.#tables = await this.#store.sizes.tables()
    const recorded = Date.parse((await this.#store.facts.lastBackup()) ?? '')
    this.#lastBackup = Number.isNaN(recorded) ? undefined : recorded / 1000
  }

  measure(metrics: Metrics): void {
    if (this.#store.engine === 'postgres') {
      metrics.gauge(
        'strand_store_table_bytes',
        'Size of a table with its indexes.',
        this.#tables.map(({ name, bytes }) => [{ table: name }, bytes]),
      )
      return
    }
    // PostgreSQL is backed up with other tools.
    metrics.gauge(
      'strand_backup_last_success_timestamp_seconds',
      'Time of the last successful strand backup, in seconds since 1970; absent if there was none.',
      this.#lastBackup ?? [],
    )
  }
}
