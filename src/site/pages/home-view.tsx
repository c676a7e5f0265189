/** @jsxRuntime automatic @jsxImportSource preact */
import { Filters } from '../components/filters.tsx'
import { Notice } from '../components/form.tsx'
import type { ShownGame } from '../components/game-card.tsx'
import { type ShownStream, StreamCard } from '../components/stream-card.tsx'
import { FeaturedChannel } from '../islands/featured-channel.tsx'
import { JustLive } from '../islands/just-live.tsx'
import { LiveGrid } from '../islands/live-grid.tsx'
import type { Broadcast } from '../player/broadcast.ts'
import type { Page } from '../render/page.ts'
import type { PageSummary } from '../render/summary.tsx'
import type { LiveChannels } from './live-channels.ts'

export interface HomeView extends LiveChannels {
  /** The games with the most viewers, or those of campaigns. */
  readonly games: readonly ShownGame[]
  /** The live channels that the user follows. */
  readonly followed: readonly ShownStream[]
  /** The channel that is shown large. */
  readonly featured: Featured | undefined
  /** The streams that started last. */
  readonly latest: readonly ShownStream[]
  readonly done: string | undefined
  readonly now: number
}

export interface Featured {
  readonly stream: ShownStream
  /** Undefined: the site has no video of it. */
  readonly broadcast: Broadcast | undefined
}

/** Who is live, most viewers first. */
export function homePage({
  cursor,
  followed,
  featured,
  latest,
  done,
  hasOthers: _,
  ...view
}: HomeView): Page {
  const { language, streams, drops, onlyDrops, now } = view
  const heading = onlyDrops ? 'Channels with drops' : 'Live now'
  return {
    title: 'Strand',
    style: 'home',
    section: 'live',
    summary: HOME_SUMMARY,
    ...(featured?.broadcast && { media: [featured.broadcast.origin] }),
    body: (
      <>
        <h1 class="hidden-text">Live channels</h1>
        <Notice kind="good" sentence={done} />
        {featured && (
          <FeaturedChannel
            stream={featured.stream}
            {...(featured.broadcast && { broadcast: featured.broadcast })}
            hasDrops={drops.channels.includes(featured.stream.user_id)}
            now={now}
          />
        )}
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
        {latest.length > 0 && <JustLive streams={latest} now={now} />}
        {streams.length === 0 ? (
          <>
            <div class="directory">
              <h2>{heading}</h2>
              <Filters {...view} />
            </div>
            <p class="quiet">
              No live channel {language ? `in ${language.name}` : ''} {onlyDrops ? 'counts for drops' : ''}{' '}
              right now. <a href="/">All live channels</a>
            </p>
          </>
        ) : (
          <LiveGrid
            {...view}
            {...(cursor !== undefined && { cursor })}
            {...(featured && { featured: featured.stream.user_id })}
            heading={heading}
          />
        )}
      </>
    ),
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
