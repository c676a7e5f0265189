/** @jsxRuntime automatic @jsxImportSource preact */
import { Filters, type Named } from '../components/filters.tsx'
import { GameArt, GameCards, type ShownGame } from '../components/game-card.tsx'
import { type ListedVideo, VideoSection } from '../components/video-card.tsx'
import { shortCount } from '../format/numbers.ts'
import { withQuery } from '../format/with-query.ts'
import { LiveGrid } from '../islands/live-grid.tsx'
import type { Page } from '../render/page.ts'
import type { PageSummary } from '../render/summary.tsx'
import type { LiveChannels } from './live-channels.ts'

interface GamesView {
  readonly games: readonly ShownGame[]
  readonly cursor: string | undefined
  /** Whether this is the first page of the list. */
  readonly isTop: boolean
}

/** The games with live channels, most viewers first. */
export const gamesPage = ({ games, cursor, isTop }: GamesView): Page => ({
  title: 'Games',
  style: 'home',
  section: 'games',
  summary: { path: '/games', description: 'Games with live channels, most viewers first.' },
  body: (
    <>
      <div class="directory">
        <h1>Games</h1>
        {!isTop && <a href="/games">From the first</a>}
      </div>
      {games.length === 0 ? (
        <p class="quiet">
          No channel is live with a game right now. <a href="/">All live channels</a>
        </p>
      ) : (
        <>
          <h2 class="hidden-text">Most viewers first</h2>
          <GameCards games={games} />
        </>
      )}
      {cursor !== undefined && (
        <p class="more">
          <a class="button" rel="next" href={withQuery('/games', { after: cursor })}>
            More games
          </a>
        </p>
      )}
    </>
  ),
})

interface GameView extends LiveChannels {
  readonly game: Named
  /** Of all its live channels. */
  readonly viewers: number | undefined
  /** Newest first. */
  readonly videos: readonly ListedVideo[]
  readonly now: number
}

/** A game: who is live with it, and its latest videos. */
export function gamePage({ cursor, videos, viewers = 0, hasOthers, isWhole: _, ...view }: GameView): Page {
  const { game, language, streams, onlyDrops } = view
  return {
    title: game.name,
    style: 'home',
    section: 'games',
    // Operators add games that no channel has had yet.
    summary: hasOthers || videos.length > 0 ? summarizeGame(game) : undefined,
    body: (
      <>
        <div class="game-header">
          <GameArt id={game.id} />
          <div>
            <p class="quiet">
              <a href="/games">Games</a>
            </p>
            <h1>{game.name}</h1>
            <p class="quiet num">
              {hasOthers ? `${shortCount(viewers)} watching now` : 'No channel is live with this game'}
            </p>
          </div>
        </div>
        {streams.length > 0 ? (
          <LiveGrid
            {...view}
            {...(cursor !== undefined && { cursor })}
            games={[]}
            heading={onlyDrops ? 'Channels with drops' : 'Live now'}
          />
        ) : (
          hasOthers && (
            <>
              <div class="directory">
                <h2>Live now</h2>
                <Filters {...view} />
              </div>
              <p class="quiet">
                No live channel {language ? `in ${language.name}` : ''} {onlyDrops ? 'counts for drops' : ''}{' '}
                right now. <a href={`/games/${game.id}`}>All live channels with {game.name}</a>
              </p>
            </>
          )
        )}
        {view.isTop && <VideoSection heading="Latest videos" videos={videos} now={view.now} />}
        {view.isTop && videos.length === 0 && <p class="quiet">There are no videos with {game.name} yet.</p>}
      </>
    ),
  }
}

const summarizeGame = ({ id, name }: Named): PageSummary => ({
  path: `/games/${id}`,
  description: `Live channels with ${name}, most viewers first, and their latest videos.`,
  image: { path: `/images/games/${id}-570x760.png`, width: 570, height: 760, alt: name },
})
