/** @jsxRuntime automatic @jsxImportSource preact */
import { type Filtering, Filters } from '../components/filters.tsx'
import { Notice } from '../components/form.tsx'
import { type ShownStream, StreamCard } from '../components/stream-card.tsx'
import { FeaturedChannel } from '../islands/featured-channel.tsx'
import { JustLive } from '../islands/just-live.tsx'
import { LiveGrid } from '../islands/live-grid.tsx'
import type { Broadcast } from '../player/broadcast.ts'
import type { Page } from '../render/page.ts'
import type { PageSummary } from '../render/summary.tsx'

export interface HomeView extends Filtering {
  readonly streams: readonly ShownStream[]
  /** The live channels that the user follows. */
  readonly followed: readonly ShownStream[]
  /** The channel that is shown large. */
  readonly featured: Featured | undefined
  /** The streams that started last. */
  readonly latest: readonly ShownStream[]
  readonly cursor: string | undefined
  /** Whether this is the first page of the list. */
  readonly isTop: boolean
  readonly done: string | undefined
  readonly now: number
}

export interface Featured {
  readonly stream: ShownStream
  /** Undefined: the site has no video of it. */
  readonly broadcast: Broadcast | undefined
}

/** Who is live, most viewers first. */
export function homePage({ cursor, followed, featured, latest, done, ...view }: HomeView): Page {
  const { game, language, streams, drops, onlyDrops, now } = view
  const heading = game?.name ?? (onlyDrops ? 'Channels with drops' : 'Live now')
  return {
    title: game?.name ?? 'Strand',
    style: 'home',
    section: 'live',
    summary: summarizeHome(view),
    ...(featured?.broadcast && { media: [featured.broadcast.origin] }),
    body: (
      <>
        <h1 class="hidden-text">{game ? `${game.name}, live channels` : 'Live channels'}</h1>
        <Notice kind="good" sentence={done} />
        {streams.length === 0 ? (
          <>
            <div class="directory">
              <h2>{heading}</h2>
              <Filters {...view} />
            </div>
            <p class="quiet">
              No live channel {game ? `with ${game.name}` : ''} {language ? `in ${language.name}` : ''}
              {onlyDrops ? 'counts for drops' : ''} right now. <a href="/">All live channels</a>
            </p>
          </>
        ) : (
          <>
            {followed.length > 0 && (
              <section class="followed" aria-labelledby="followed-heading">
                <h2 id="followed-heading">Following</h2>
                <ul class="grid">
                  {followed.map(stream => (
                    <StreamCard
                      key={stream.user_id}
                      stream={stream}
                      now={now}
                      hasDrops={drops.channels.includes(stream.user_id)}
                    />
                  ))}
                </ul>
              </section>
            )}
            {featured && (
              <FeaturedChannel
                stream={featured.stream}
                {...(featured.broadcast && { broadcast: featured.broadcast })}
                hasDrops={drops.channels.includes(featured.stream.user_id)}
                now={now}
              />
            )}
            {latest.length > 0 && <JustLive streams={latest} now={now} />}
            <LiveGrid
              {...view}
              {...(cursor !== undefined && { cursor })}
              {...(featured && { featured: featured.stream.user_id })}
              heading={heading}
            />
          </>
        )}
      </>
    ),
  }
}

/** The whole list, or that of a game: other filters and pages are parts of these. */
function summarizeHome({ game, streams }: Pick<HomeView, 'game' | 'streams'>): PageSummary | undefined {
  if (game === undefined) return HOME_SUMMARY
  // Anyone can make up a game.
  if (streams.length === 0) return undefined
  return {
    path: `/?game=${encodeURIComponent(game.id)}`,
    description: `Live channels with ${game.name}, most viewers first.`,
  }
}

const HOME_SUMMARY: PageSummary = { path: '/', description: 'Who is live right now, and their past videos.' }

/** An installation without a live channel: what to do next. */
export function welcomePage({ signUp, done }: Pick<HomeView, 'done'> & { readonly signUp: boolean }): Page {
  return {
    title: 'Strand',
    style: 'home',
    section: 'live',
    summary: HOME_SUMMARY,
    body: (
      <div class="welcome">
        <Notice kind="good" sentence={done} />
        <h1>No channel is live yet</h1>
        <p class="quiet">This page shows live channels, most viewers first. To see one here:</p>
        <ol class="steps">
          <li class="panel">
            <h2>Get an account</h2>
            <p>
              {signUp ? (
                <>
                  <a href="/signup?next=/studio">Sign up</a> with a user name and a password.
                </>
              ) : (
                <>
                  The operator creates it with <code>strand user create</code>. Then{' '}
                  <a href="/login?next=/studio">log in</a>.
                </>
              )}
            </p>
          </li>
          <li class="panel">
            <h2>Open the studio</h2>
            <p>
              <a href="/studio">The studio</a> has the server and the stream key for OBS, and a line for
              ffmpeg.
            </p>
          </li>
          <li class="panel">
            <h2>Go live</h2>
            <p>The channel appears here within two seconds, and plays on its page.</p>
          </li>
        </ol>
        <p class="quiet">
          Building an application? <a href="/docs">The API reference</a> has every operation with an example.
        </p>
      </div>
    ),
  }
}
