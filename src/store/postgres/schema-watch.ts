/**
 * Notices when a newer version has migrated the store so that this program cannot serve it any more. From then on all work is
 * refused, before it can read or write what it misunderstands, until the store is one that this program can serve.
 */
import { repeatedly } from '../../kit/lifetime.ts'
import type { Log } from '../../kit/telemetry/log.ts'
import { requireServable, SchemaRefused, type SchemaState } from '../engine/schema-state.ts'
import { Unavailable } from '../errors.ts'

const INTERVAL_MILLISECONDS = 5000

export class SchemaWatch {
  readonly #schema: () => Promise<SchemaState>
  readonly #log: Log | undefined
  readonly #repetition: { stop(): Promise<void> }
  #refusal: string | undefined

  constructor(schema: () => Promise<SchemaState>, log: Log | undefined) {
    this.#schema = schema
    this.#log = log
    // If the store does not answer, others report that.
    this.#repetition = repeatedly(
      INTERVAL_MILLISECONDS,
      () => this.check(),
      () => undefined,
    )
  }

  /** Throws if this program cannot serve the store. */
  require(): void {
    if (this.#refusal !== undefined) throw new Unavailable(this.#refusal)
  }

  async check(): Promise<void> {
    const refusal = findRefusal(await this.#schema())
    if (refusal === this.#refusal) return
    this.#refusal = refusal
    if (refusal === undefined) this.#log?.info('the schema of the store can be served again')
    else this.#log?.error({ reason: refusal }, 'the schema of the store was changed; refusing requests')
  }

  stop(): Promise<void> {
    return this.#repetition.stop()
  }
}

function findRefusal(state: SchemaState): string | undefined {
  try {
    requireServable(state)
    return undefined
  } catch (error) {
    if (error instanceof SchemaRefused) return error.message
    throw error
  }
}
