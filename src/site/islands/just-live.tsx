/** @jsxRuntime automatic @jsxImportSource preact */
/** The channels that went live last, in one row. */
import { useRef, useState } from 'preact/hooks'
import { Avatar } from '../components/avatar.tsx'
import type { ShownStream } from '../components/stream-card.tsx'
import { Uptime } from '../components/time.tsx'
import { api } from '../scripts/api.ts'
import { useEveryFewSeconds } from '../scripts/every-few-seconds.ts'
import { island } from '../scripts/island.tsx'
import { useServerTime } from '../scripts/server-time.ts'

interface JustLiveProps {
  readonly streams: readonly ShownStream[]
  /** The time of the server, in milliseconds since 1970. */
  readonly now: number
}

const REFRESH_MILLISECONDS = 1000
const MINUTE_MILLISECONDS = 60_000

export const JustLive = island('just-live', function JustLive(props: JustLiveProps) {
  const [streams, setStreams] = useState(props.streams)
  const now = useServerTime(props.now, MINUTE_MILLISECONDS)
  const row = useRef<HTMLUListElement>(null)

  useEveryFewSeconds(REFRESH_MILLISECONDS, async () => {
    // What a reader points at does not move.
    if (row.current?.matches(':hover, :focus-within')) return
    const { data } = await api().playback.getLatestStreams({ first: props.streams.length })
    setStreams(before => (isSame(before, data) ? before : data))
  })

  return (
    <section class="just-live" aria-labelledby="just-live-heading">
      <h2 id="just-live-heading">Just went live</h2>
      <ul ref={row}>
        {streams.map(({ user_id, user_login, user_name, title, game_name, started_at }) => (
          <li key={user_id}>
            <a href={`/${user_login}`} title={title}>
              <Avatar user_id={user_id} size={32} />
              <span>
                <strong>{user_name}</strong>
                <span class="quiet">
                  {game_name !== '' && `${game_name} · `}
                  <Uptime started_at={started_at} now={now} />
                </span>
              </span>
            </a>
          </li>
        ))}
      </ul>
    </section>
  )
})

const isSame = (some: readonly ShownStream[], others: readonly ShownStream[]): boolean =>
  some.length === others.length && some.every(({ id }, at) => id === others[at]?.id)
