import type { PageRequest } from '../contract/page.ts'
import type { Rank } from '../domain/ranking.ts'
import { compareDecimal } from '../kit/decimal.ts'
import type { FeedPoint } from '../store/feed.ts'
import type { GameRanking } from './game-ranking.ts'
import type { LiveRows } from './live-rows.ts'
import { startAmong } from './ranking.ts'
import { cutPage, toRank, type WalkPage } from './stream-page.ts'

/** A page of the games that have a live stream now. */
export function pageOfGames(
  { games, totals }: GameRanking,
  rows: LiveRows,
  window: PageRequest,
  point: FeedPoint,
): WalkPage<Rank> {
  const forward = window.direction === 'forward'
  const idAt = (place: number) => rows.games.nameFor(games[place] as number)
  const found: Rank[] = []
  let place = startAmong(
    games.length,
    window.from && toRank(window.from),
    forward,
    (from, at) => from.viewer_count - (totals[at] as number) || compareDecimal(from.id, idAt(at)),
  )
  for (; place >= 0 && place < games.length && found.length <= window.first; place += forward ? 1 : -1) {
    if (rows.hasLive(games[place] as number))
      found.push({ viewer_count: totals[place] as number, id: idAt(place) })
  }
  return cutPage(found, window, point)
}
