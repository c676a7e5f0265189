/** @jsxRuntime automatic @jsxImportSource preact */
/** The title, game and numbers of a live channel, as they change. */
import { useState } from 'preact/hooks'
import { clockTime } from '../../kit/time/clock-time.ts'
import { Fact, Facts } from '../components/facts.tsx'
import { directoryLink } from '../components/filters.tsx'
import type { Following } from '../components/follow.tsx'
import { type Channel, Header } from '../components/header.tsx'
import type { ShownStream } from '../components/stream-card.tsx'
import { Tags } from '../components/tags.tsx'
import { minute } from '../format/times.ts'
import { api } from '../scripts/api.ts'
import { useEveryFewSeconds } from '../scripts/every-few-seconds.ts'
import { island } from '../scripts/island.tsx'
import { useOwnViewer } from '../scripts/own-viewer.ts'
import { useServerTime } from '../scripts/server-time.ts'

const REFRESH_MILLISECONDS = 5000

export const ChannelLive = island(
  'channel-live',
  function ChannelLive({
    channel,
    live: before,
    following,
    now: start,
  }: {
    readonly channel: Channel
    readonly live: ShownStream
    readonly following: Following
    /** The time of the server, in milliseconds since 1970. */
    readonly now: number
  }) {
    const [live, setLive] = useState<ShownStream | undefined>(before)
    const now = useServerTime(start, 1000)
    useEveryFewSeconds(REFRESH_MILLISECONDS, async () => {
      const { data } = await api().helix.getStreams({ user_id: [channel.id] })
      setLive(data[0])
    })
    const viewers = useOwnViewer(live?.viewer_count ?? 0)
    const { display_name } = channel
    if (live === undefined)
      return <Header channel={channel} title={display_name} byline="Offline" following={following} />
    const seconds = Math.max(0, Math.floor((now - Date.parse(live.started_at)) / 1000))
    return (
      <Header
        channel={channel}
        title={live.title || display_name}
        byline={
          <>
            {live.title !== '' && <strong>{display_name}</strong>}
            {live.title !== '' && live.game_name !== '' && ' · '}
            {live.game_name !== '' && <a href={directoryLink({ game: live.game_id })}>{live.game_name}</a>}
          </>
        }
        below={<Tags tags={live.tags} />}
        numbers={
          <Facts>
            <Fact name="Viewers">{viewers.toLocaleString('en-US')}</Fact>
            <Fact name="Uptime">
              <time datetime={live.started_at} title={minute(live.started_at)}>
                {clockTime(seconds)}
              </time>
            </Fact>
          </Facts>
        }
        following={following}
      />
    )
  },
)
