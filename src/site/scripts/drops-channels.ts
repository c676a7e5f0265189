/** Which cards of a page are of channels that count for drops. Lists of the API do not have it, so the page asks for new ones. */

/** The answer of `/site/drops-channels`: those of the channels that count. */
export interface DropsChannelsAnswer {
  readonly user_ids: readonly string[]
}

/** What the server knew when it rendered the page. */
export interface KnownDrops {
  /** The games of active campaigns. */
  readonly games: readonly string[]
  /** The channels on the page that count. */
  readonly channels: readonly string[]
}

interface PlayedStream {
  readonly user_id: string
  readonly game_id: string
}

export const MAX_ASKED = 100

export class DropsChannels {
  readonly #games: ReadonlySet<string>
  /** By channel and the game that it played then. */
  readonly #known = new Map<string, boolean>()

  constructor({ games, channels }: KnownDrops, streams: readonly PlayedStream[]) {
    this.#games = new Set(games)
    for (const stream of streams) this.#known.set(keyFor(stream), channels.includes(stream.user_id))
  }

  has(stream: PlayedStream): boolean {
    return this.#known.get(keyFor(stream)) === true
  }

  /** Finds out about the streams among these that are new, or have another game. Without an answer they have no badge. */
  async ask(streams: readonly PlayedStream[]): Promise<void> {
    const unknown = streams.filter(each => this.#games.has(each.game_id) && !this.#known.has(keyFor(each)))
    for (let from = 0; from < unknown.length; from += MAX_ASKED) {
      const batch = unknown.slice(from, from + MAX_ASKED)
      const counting = await fetchCounting(batch.map(({ user_id }) => user_id))
      for (const each of batch) this.#known.set(keyFor(each), counting.includes(each.user_id))
    }
  }
}

const keyFor = ({ user_id, game_id }: PlayedStream): string => `${user_id} ${game_id}`

async function fetchCounting(user_ids: readonly string[]): Promise<readonly string[]> {
  try {
    const response = await fetch(`/site/drops-channels?user_ids=${user_ids.join()}`, {
      headers: { Accept: 'application/json' },
    })
    return response.ok ? ((await response.json()) as DropsChannelsAnswer).user_ids : []
  } catch {
    return []
  }
}
