/** @jsxRuntime automatic @jsxImportSource preact */
import { clockTime } from '../../kit/time/clock-time.ts'
import { counted } from '../format/numbers.ts'
import { minute } from '../format/times.ts'

export interface ListedVideo {
  readonly id: string
  readonly title: string
  readonly created_at: string
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

const VideoCard = ({ id, title, created_at, view_count, seconds }: ListedVideo) => (
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
        <p>
          <time datetime={created_at}>{minute(created_at)}</time> · {counted(view_count, 'view', 'views')}
        </p>
      </div>
    </div>
  </li>
)
