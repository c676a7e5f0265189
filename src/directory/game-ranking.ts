/**
 * The games of the live streams at one point of the feed, by their total viewers. Like the ranking of streams it is a
 * function of the point alone, so walks through the games keep the same promise (D-75): streams that have ended since, or
 * have another game now, count as they did then. A game is omitted once it has no live stream.
 */
import { NO_STREAM } from './journal.ts'
import type { Numbers } from './numbers.ts'
import { largestFirst } from './ranking.ts'

/** Most viewers first: the numbers of the games, and their totals. */
export interface GameRanking {
  readonly games: Int32Array
  readonly totals: Float64Array
}

/** `counts` and `gameAt` are by `LiveRow.index`. Streams without a game do not count. */
export function rankGames(counts: Int32Array, gameAt: Int32Array, names: Numbers): GameRanking {
  const [none] = names.find([''])
  const totals = new Float64Array(names.size)
  const isLive = new Uint8Array(names.size)
  for (let index = 0; index < counts.length; index++) {
    const game = gameAt[index] as number
    if (game === NO_STREAM || game === none) continue
    totals[game] = (totals[game] as number) + (counts[index] as number)
    isLive[game] = 1
  }
  const byId = names.inDecimalOrder().filter(game => isLive[game] === 1)
  const games = Int32Array.from(largestFirst(byId, game => totals[game] as number))
  return { games, totals: Float64Array.from(games, game => totals[game] as number) }
}
