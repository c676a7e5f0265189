/** @jsxRuntime automatic @jsxImportSource preact */
import { clockTime } from '../../kit/time/clock-time.ts'
import { counted } from '../format/numbers.ts'
import { Ago } from './time.tsx'

export interface ListedVideo {
  readonly id: string
  readonly title: string
  readonly created_at: string
  /** The time of the list, in milliseconds since 1970. */
  readonly now: number
  /** Whose video it is, where that is not obvious. */
  readonly channel?: { readonly login: string; readonly name: string }
  readonly view_count: number
  readonly seconds: number
}

export const UNTITLED_VIDEO = 'Untitled video'

/** A heading and cards that lead to videos. */
export const VideoSection = ({
  heading,
  videos,
  ifNone,
}: {
  readonly heading: string
  readonly videos: readonly ListedVideo[]
  readonly ifNone: string
}) => (
  <section class="videos" aria-labelledby="videos-heading">
    <h2 id="videos-heading">{heading}</h2>
    {videos.length === 0 ? (
      <p class="quiet">{ifNone}</p>
    ) : (
      <ul class="grid">
        {videos.map(video => (
          <VideoCard key={video.id} {...video} />
        ))}
      </ul>
    )}
  </section>
)

const VideoCard = ({ id, title, channel, created_at, now, view_count, seconds }: ListedVideo) => (
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
