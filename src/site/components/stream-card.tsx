/** @jsxRuntime automatic @jsxImportSource preact */
import type { Stream } from '../../contract/resources/stream.ts'
import { shortCount } from '../format/numbers.ts'
import { Avatar } from './avatar.tsx'
import { Tags } from './tags.tsx'
import { Uptime } from './time.tsx'

const SHOWN = [
  'id',
  'user_id',
  'user_login',
  'user_name',
  'game_id',
  'game_name',
  'title',
  'viewer_count',
  'started_at',
  'tags',
] as const

/** What pages show of a live stream. */
export type ShownStream = Pick<Stream, (typeof SHOWN)[number]>

/** Without the fields that no page shows: a page carries its streams as JSON too. */
export const toShownStream = (stream: ShownStream): ShownStream =>
  Object.fromEntries(SHOWN.map(name => [name, stream[name]])) as unknown as ShownStream

const MAX_TAGS = 3

/** The place of a card that is being loaded. */
export const CardSkeleton = () => (
  <li class="card skeleton" aria-hidden="true">
    <span class="shot" />
    <div class="meta">
      <span class="avatar" />
      <span class="lines" />
    </div>
  </li>
)

/** A live channel. `now` is in milliseconds since 1970; `ended`: the stream has ended since the page was loaded. */
export function StreamCard({
  stream,
  now,
  ended = false,
  hasDrops = false,
}: {
  readonly stream: ShownStream
  readonly now: number
  readonly ended?: boolean
  /** Whether viewers earn drops on the channel. */
  readonly hasDrops?: boolean
}) {
  const { user_id, user_login, user_name, title, viewer_count, started_at, tags } = stream
  return (
    <li class={ended ? 'card ended' : 'card'}>
      <span class="shot">
        <img
          src={`/images/channels/${user_id}-640x360.png`}
          width="640"
          height="360"
          alt=""
          loading="lazy"
          decoding="async"
        />
        {ended ? <span class="badge">Ended</span> : <span class="live">Live</span>}
        {!ended && (
          <>
            {hasDrops && <span class="badge with-drops">Drops</span>}
            <span class="badge">{shortCount(viewer_count)} watching</span>
            <span class="badge right">
              <Uptime started_at={started_at} now={now} />
            </span>
          </>
        )}
      </span>
      <div class="meta">
        <Avatar user_id={user_id} size={38} />
        <div>
          <h3>
            <a href={`/${user_login}`}>{title || `${user_name} is live`}</a>
          </h3>
          <p>
            {user_name}
            {stream.game_name !== '' && (
              <>
                {' · '}
                <a href={`/games/${stream.game_id}`}>{stream.game_name}</a>
              </>
            )}
          </p>
          <Tags tags={tags} most={MAX_TAGS} />
        </div>
      </div>
    </li>
  )
}
