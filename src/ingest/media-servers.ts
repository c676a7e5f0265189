import { sha256Hex } from '../kit/crypto/digest.ts'
import type { Clock } from '../kit/time/clock.ts'
import { withTimeout } from '../kit/time/with-timeout.ts'
import type { MediaServerRow } from '../store/queries/media-servers.ts'
import type { Store } from '../store/store.ts'

/** How long a request with an unknown secret waits for the store, in case the secret is new. */
const MAX_WAIT_MILLISECONDS = 1000

/** The configured media servers, in memory, so that a callback can be checked while the store is slow. */
export class MediaServers {
  readonly #store: Store
  readonly #clock: Clock
  #byName: ReadonlyMap<string, MediaServerRow> = new Map()
  /** The read that requests with an unknown secret wait for. */
  #asking: Promise<void> | undefined

  constructor({ store, clock }: { store: Store; clock: Clock }) {
    this.#store = store
    this.#clock = clock
  }

  all(): MediaServerRow[] {
    return [...this.#byName.values()]
  }

  find(adapter: string, name: string): MediaServerRow | undefined {
    const server = this.#byName.get(name)
    return server?.adapter === adapter ? server : undefined
  }

  /** Reads them; called every second. */
  async refresh(): Promise<void> {
    const rows = await this.#store.mediaServers.all()
    this.#byName = new Map(rows.map(row => [row.name, row]))
  }

  /** The media server that a secret belongs to. `mayAsk`: whether to read the store if the secret is unknown. */
  async withSecret(
    adapter: string,
    name: string,
    secret: string,
    mayAsk: () => boolean,
  ): Promise<MediaServerRow | undefined> {
    const hash = sha256Hex(secret)
    const find = () => this.#matching(adapter, name, hash)
    // Many publishers may arrive with the same new secret: they share a read.
    const known = find() ?? (this.#asking && (await this.#asking.then(find)))
    if (known !== undefined || !mayAsk()) return known
    await this.#ask()
    return find()
  }

  /** Reads them for a request, and waits for a short time only. */
  async #ask(): Promise<void> {
    const asking = withTimeout(MAX_WAIT_MILLISECONDS, this.refresh(), () => undefined).catch(() => undefined)
    this.#asking = asking
    await asking
    if (this.#asking === asking) this.#asking = undefined
  }

  /** Hashes of random secrets may be compared in any time. */
  #matching(adapter: string, name: string, hash: string): MediaServerRow | undefined {
    const server = this.find(adapter, name)
    if (server === undefined) return undefined
    const isPrevious =
      server.previous_hash === hash &&
      server.previous_until !== null &&
      Date.parse(server.previous_until) > this.#clock.now()
    return server.secret_hash === hash || isPrevious ? server : undefined
  }
}
