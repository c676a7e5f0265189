/** @jsxRuntime automatic @jsxImportSource preact */
/** One live channel, large: its video if it plays on this site, otherwise its picture. */
import { useEffect, useState } from 'preact/hooks'
import { Avatar } from '../components/avatar.tsx'
import { GameArt } from '../components/game-card.tsx'
import { Preview } from '../components/preview.tsx'
import type { ShownStream } from '../components/stream-card.tsx'
import { Tags } from '../components/tags.tsx'
import { Uptime } from '../components/time.tsx'
import { shortCount } from '../format/numbers.ts'
import type { Broadcast } from '../player/broadcast.ts'
import { api } from '../scripts/api.ts'
import { useEveryFewSeconds } from '../scripts/every-few-seconds.ts'
import { island } from '../scripts/island.tsx'
import { useServerTime } from '../scripts/server-time.ts'

interface FeaturedChannelProps {
  readonly stream: ShownStream
  /** Its video, if this site has it. */
  readonly broadcast?: Broadcast
  /** Whether viewers earn drops on it. */
  readonly hasDrops: boolean
  /** The time of the server, in milliseconds since 1970. */
  readonly now: number
}

const REFRESH_MILLISECONDS = 3000
const MINUTE_MILLISECONDS = 60_000

export const FeaturedChannel = island(
  'featured-channel',
  function FeaturedChannel(props: FeaturedChannelProps) {
    const [stream, setStream] = useState(props.stream)
    const [hasEnded, setHasEnded] = useState(false)
    const now = useServerTime(props.now, MINUTE_MILLISECONDS)
    const { user_id, user_login, user_name, title, game_id, game_name, viewer_count, started_at } = stream

    useEveryFewSeconds(REFRESH_MILLISECONDS, async () => {
      const [live] = (await api().helix.getStreams({ user_id: [user_id] })).data
      setHasEnded(live === undefined)
      if (live !== undefined) setStream(live)
    })

    return (
      <section class="featured" aria-label="Featured channel">
        <img class="glow" src={picture(user_id)} width="1280" height="720" alt="" />
        <span class="shot">
          <Screen user_id={user_id} name={user_name} broadcast={hasEnded ? undefined : props.broadcast} />
          {hasEnded ? <span class="badge">Ended</span> : <span class="live">Live</span>}
          {props.hasDrops && !hasEnded && <span class="badge with-drops">Drops</span>}
        </span>
        <div class="text">
          <p class="channel">
            <Avatar user_id={user_id} size={44} />
            <span>
              <span class="name">{user_name}</span>
              <span class="quiet num">
                {shortCount(viewer_count)} watching · <Uptime started_at={started_at} now={now} />
              </span>
            </span>
          </p>
          <h2>
            <a href={`/${user_login}`}>{title || `${user_name} is live`}</a>
          </h2>
          {game_name !== '' && (
            <a class="game" href={`/games/${game_id}`}>
              <GameArt id={game_id} />
              {game_name}
            </a>
          )}
          <Tags tags={stream.tags} />
          <a class="button primary" href={`/${user_login}`} aria-label={`Watch ${user_name}`}>
            Watch
          </a>
        </div>
      </section>
    )
  },
)

const picture = (user_id: string): string => `/images/channels/${user_id}-1280x720.png`

interface ScreenProps {
  readonly user_id: string
  readonly name: string
  readonly broadcast: Broadcast | undefined
}

/** Plays by itself, unless the reader asks for less motion or less data; a button stops and starts it. */
function Screen({ user_id, name, broadcast }: ScreenProps) {
  const plays = broadcast !== undefined
  const [isPlaying, setIsPlaying] = useState(false)
  useEffect(() => setIsPlaying(plays && !wantsLess()), [plays])
  return (
    <>
      {broadcast && isPlaying ? (
        <Preview user_id={user_id} broadcast={broadcast} label={`${name}, muted`} />
      ) : (
        <img src={picture(user_id)} width="1280" height="720" alt="" />
      )}
      {plays && (
        <button type="button" class="small-button on-picture" onClick={() => setIsPlaying(!isPlaying)}>
          {isPlaying ? 'Stop' : 'Play'}
        </button>
      )}
    </>
  )
}

function wantsLess(): boolean {
  const { connection } = navigator as Navigator & { readonly connection?: { readonly saveData?: boolean } }
  return matchMedia('(prefers-reduced-motion: reduce)').matches || connection?.saveData === true
}
