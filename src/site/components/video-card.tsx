/** @jsxRuntime automatic @jsxImportSource preact */
import { clockTime } from '../../kit/time/clock-time.ts'
import { counted } from '../format/numbers.ts'
import { Ago } from './time.tsx'

export interface ListedVideo {
  readonly id: string
  readonly title: string
  readonly created_at: string
  /** Whose video it is, where that is not obvious. */
  readonly channel?: { readonly login: string; readonly name: string }
  readonly view_count: number
  readonly seconds: number
}

export const UNTITLED_VIDEO = 'Untitled video'

/** A heading and cards that lead to videos; nothing if there are none. */
export const VideoSection = ({
  heading,
  videos,
  now,
}: {
  readonly heading: string
  readonly videos: readonly ListedVideo[]
  readonly now: number
}) =>
  videos.length === 0 ? null : (
    <section class="videos" aria-labelledby="videos-heading">
      <h2 id="videos-heading">{heading}</h2>
      <ul class="grid">
        {videos.map(video => (
          <VideoCard key={video.id} {...video} now={now} />
        ))}
      </ul>
    </section>
  )

const VideoCard = ({
  id,
  title,
  channel,
  created_at,
  view_count,
  seconds,
  now,
}: ListedVideo & { readonly now: number }) => (
  <li class="card">
    <span class="shot">
      <img src={`/images/videos/${id}-640x360.png`} width="640" height="360" alt="" loading="lazy" />
      <span class="badge">{clockTime(seconds)}</span>
    </span>
    <div class="meta">
      <div>
        <h3>
          <a href={`/videos/${id}`}>{title === '' ? UNTITLED_VIDEO : title}</a>
        </h3>
        {channel && (
          <p>
            <a href={`/${channel.login}`}>{channel.name}</a>
          </p>
        )}
        <p>
          <Ago iso={created_at} now={now} /> · {counted(view_count, 'view', 'views')}
        </p>
      </div>
    </div>
  </li>
)
