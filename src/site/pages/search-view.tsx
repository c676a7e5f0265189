/** @jsxRuntime automatic @jsxImportSource preact */
import { Avatar } from '../components/avatar.tsx'
import type { Named } from '../components/filters.tsx'
import { GameCards } from '../components/game-card.tsx'
import { Icon, SEARCH } from '../components/icon.tsx'
import { type ShownStream, StreamCard } from '../components/stream-card.tsx'
import type { Page } from '../render/page.ts'

interface SearchView {
  readonly query: string
  readonly live: readonly ShownStream[]
  readonly games: readonly Named[]
  readonly offline: readonly { readonly id: string; readonly login: string; readonly display_name: string }[]
  /** The live channels that count for drops, by user id. */
  readonly drops: readonly string[]
  readonly now: number
}

/** Live channels first, then games, then channels that are offline. */
export function searchPage({ query, live, games, offline, drops, now }: SearchView): Page {
  const isEmpty = live.length + games.length + offline.length === 0
  return {
    title: `Search: ${query}`,
    style: 'home',
    query,
    body: (
      <div class="results">
        <h1>Results for “{query}”</h1>
        {isEmpty && (
          <div class="nothing">
            <Icon shape={SEARCH} />
            <h2>Nothing found</h2>
            <p class="quiet">
              No channel or game has this text in its name, and no live channel in its title or tags.
            </p>
            <div class="actions">
              <a class="button primary" href="/">
                All live channels
              </a>
              <a class="button" href="/games">
                All games
              </a>
            </div>
          </div>
        )}
        {games.length > 0 && (
          <section aria-labelledby="games-heading">
            <h2 id="games-heading">Games</h2>
            <GameCards games={games} />
          </section>
        )}
        {live.length > 0 && (
          <section aria-labelledby="live-heading">
            <h2 id="live-heading">Live channels</h2>
            <ul class="grid">
              {live.map(stream => (
                <StreamCard
                  key={stream.user_id}
                  stream={stream}
                  now={now}
                  hasDrops={drops.includes(stream.user_id)}
                />
              ))}
            </ul>
          </section>
        )}
        {offline.length > 0 && (
          <section aria-labelledby="offline-heading">
            <h2 id="offline-heading">Channels</h2>
            <ul class="people">
              {offline.map(({ id, login, display_name }) => (
                <li key={id}>
                  <a href={`/${login}`}>
                    <Avatar user_id={id} size={48} />
                    <span>{display_name}</span>
                  </a>
                </li>
              ))}
            </ul>
          </section>
        )}
      </div>
    ),
  }
}
