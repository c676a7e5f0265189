/** @jsxRuntime automatic @jsxImportSource preact */
/** The videos of a channel: to watch, rename and delete. */
import { clockTime } from '../../kit/time/clock-time.ts'
import { Form } from '../components/form.tsx'
import { Ago } from '../components/time.tsx'
import { type ListedVideo, UNTITLED_VIDEO } from '../components/video-card.tsx'
import { counted } from '../format/numbers.ts'
import type { Page } from '../render/page.ts'
import { sectionPath } from './sections.ts'
import { studioPath } from './studio-context.ts'
import { type StudioView, studioPage } from './studio-frame.tsx'

interface StudioVideo extends ListedVideo {
  readonly isLive: boolean
}

interface VideosView extends StudioView {
  readonly videos: readonly StudioVideo[]
  readonly moreVideos: string | undefined
}

export const videosPage = (view: VideosView): Page =>
  studioPage(view, 'videos', { body: <Videos {...view} /> })

const Videos = (view: VideosView) => {
  const { videos, moreVideos, channel } = view
  return (
    <section class="panel" id="videos" aria-labelledby="videos-heading">
      <h2 id="videos-heading">Videos</h2>
      {videos.length === 0 ? (
        <p class="quiet">Every broadcast becomes a video here, with its title and its markers.</p>
      ) : (
        <ul class="video-rows">
          {videos.map(video => (
            <VideoRow key={video.id} video={video} view={view} />
          ))}
        </ul>
      )}
      {moreVideos !== undefined && (
        <p class="more-videos">
          <a
            class="button"
            rel="next"
            href={`${sectionPath(channel.login, 'videos')}?after=${encodeURIComponent(moreVideos)}`}
          >
            Older videos
          </a>
        </p>
      )}
    </section>
  )
}

const VideoRow = ({ video, view }: { video: StudioVideo; view: VideosView }) => {
  const { id, seconds, isLive, view_count, created_at } = video
  const title = video.title || UNTITLED_VIDEO
  const action = `${studioPath(view.channel.login)}/videos`
  const { csrf } = view
  return (
    <li>
      <span class="shot">
        <img src={`/images/videos/${id}-320x180.png`} width="320" height="180" alt="" loading="lazy" />
        {isLive ? <span class="live">Live</span> : <span class="badge right">{clockTime(seconds)}</span>}
      </span>
      <div class="what">
        <a href={`/videos/${id}`}>{title}</a>
        <p class="small quiet">
          <Ago iso={created_at} now={view.now} /> · {counted(view_count, 'view', 'views')}
        </p>
      </div>
      {view.isOwner && (
        <details class="disclosure">
          <summary aria-label={`Edit the video ${title}`}>Edit</summary>
          <div class="edit">
            {!isLive && (
              <Form action={action} fields={{ csrf, decision: 'rename', video_id: id }}>
                <label class="hidden-text" for={`video-${id}`}>
                  Title
                </label>
                <input
                  id={`video-${id}`}
                  class="input"
                  name="title"
                  value={video.title}
                  maxLength={140}
                  required
                  autocomplete="off"
                />
                <button type="submit">Rename</button>
              </Form>
            )}
            <Form action={action} fields={{ csrf, decision: 'delete', video_id: id }}>
              <button class="warning" type="submit">
                Delete for good
              </button>
            </Form>
          </div>
        </details>
      )}
    </li>
  )
}
