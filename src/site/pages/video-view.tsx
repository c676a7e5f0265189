/** @jsxRuntime automatic @jsxImportSource preact */
import { videoMoment } from '../../domain/timeline.ts'
import { clockTime } from '../../kit/time/clock-time.ts'
import { Avatar } from '../components/avatar.tsx'
import { ChannelBar, type ChannelBarView } from '../components/channel-bar.tsx'
import { Fact, Facts } from '../components/facts.tsx'
import { Share } from '../components/share.tsx'
import { Ago } from '../components/time.tsx'
import { type ListedVideo, UNTITLED_VIDEO, VideoSection } from '../components/video-card.tsx'
import { day } from '../format/times.ts'
import { Player, type PlayerMarker } from '../islands/player.tsx'
import type { Broadcast } from '../player/broadcast.ts'
import type { Page } from '../render/page.ts'
import { type PageSummary, wideImage } from '../render/summary.tsx'

interface VideoView extends Omit<ListedVideo, 'now'> {
  readonly user_id: string
  readonly user_login: string
  readonly user_name: string
  readonly game: string | undefined
  readonly isLive: boolean
  /** The position that the link points to. */
  readonly position: number | undefined
  /** The whole URL of the page. */
  readonly link: string
  readonly bar: ChannelBarView
  readonly now: number
}

/** What the page of a video plays: a broadcast that runs and is recorded, or a closed recording and where it is. */
export type PlayableVideo =
  | { readonly broadcast: Broadcast }
  | { readonly recording: string; readonly origins: readonly string[] }

interface PlayedVideoView extends VideoView {
  readonly others: readonly ListedVideo[]
  readonly markers: readonly PlayerMarker[]
  readonly playable: PlayableVideo
  /** Where viewers reach this node and no other. */
  readonly mediaUrl: string | undefined
}

function summarizeVideo(view: VideoView): PageSummary {
  const { id, user_name, game, isLive, seconds, created_at } = view
  const length = isLive ? 'live' : clockTime(seconds)
  return {
    path: `/videos/${id}`,
    type: 'video.other',
    description: [`${user_name}, ${day(created_at)}`, length, game].filter(Boolean).join(' · '),
    image: wideImage(`/images/videos/${id}`, view.title || UNTITLED_VIDEO),
    ...(!isLive && { seconds: Math.round(seconds) }),
  }
}

/** A video that does not play here: it has no recording, or a file that browsers do not play. */
export function videoPage(view: VideoView, file?: string): Page {
  const { position, seconds, isLive } = view
  const title = view.title || UNTITLED_VIDEO
  return {
    title,
    style: 'watch',
    summary: summarizeVideo(view),
    body: (
      <>
        <div class="watch">
          <article class="still">
            <div class="shot">
              <img src={`/images/videos/${view.id}-640x360.png`} width="640" height="360" alt="" />
              {isLive ? (
                <span class="live">Live</span>
              ) : (
                <span class="badge right">{clockTime(seconds)}</span>
              )}
            </div>
            {position !== undefined && (
              <div class="position">
                <progress
                  value={Math.min(position, seconds)}
                  max={Math.max(seconds, 1)}
                  aria-label="Position in the video"
                />
                <p class="small">
                  This link points to <strong>{clockTime(position)}</strong>
                </p>
              </div>
            )}
            <div class="masthead">
              <Avatar user_id={view.user_id} size={64} />
              <div class="names">
                <h1>{title}</h1>
                <p class="byline">
                  <a href={`/${view.user_login}`}>{view.user_name}</a>
                </p>
                {file !== undefined && (
                  <p>
                    <a href={file}>Download the recording</a>, which does not play in browsers.
                  </p>
                )}
              </div>
              <Facts>
                <Fact name="Started">
                  <Ago iso={view.created_at} now={view.now} />
                </Fact>
                <Fact name={isLive ? 'Duration so far' : 'Duration'}>{clockTime(seconds)}</Fact>
                <Fact name="Game">{view.game ?? 'No game'}</Fact>
              </Facts>
              <Share link={view.link} moment={{ link: view.link, position: position ?? 0 }} />
            </div>
          </article>
        </div>
        <ChannelBar {...view.bar} />
      </>
    ),
  }
}

/** A video that plays, from the position that the link points to. */
export function recordedVideoPage(view: PlayedVideoView): Page {
  const { playable } = view
  const title = view.title || UNTITLED_VIDEO
  const isRunning = 'broadcast' in playable
  return {
    title,
    style: 'watch',
    summary: summarizeVideo(view),
    media: [...(isRunning ? [playable.broadcast.origin] : playable.origins), view.mediaUrl],
    body: (
      <>
        <div class="watch">
          <Player
            channel={{ id: view.user_id, login: view.user_login }}
            poster={`/images/videos/${view.id}-1280x720.png`}
            label={title}
            seconds={view.seconds}
            startedAt={Date.parse(view.created_at)}
            start={Math.min(view.position ?? 0, view.seconds)}
            markers={view.markers}
            {...(isRunning ? { broadcast: playable.broadcast } : { recording: playable.recording })}
          />
          <div class="masthead">
            <Avatar user_id={view.user_id} size={64} />
            <div class="names">
              <h1>{title}</h1>
              <p class="byline">
                <a href={`/${view.user_login}`}>{view.user_name}</a> · {view.game ?? 'No game'}
              </p>
            </div>
            <div class="end">
              <Facts>
                <Fact name="Started">
                  <Ago iso={view.created_at} now={view.now} />
                </Fact>
                <Fact name={isRunning ? 'Duration so far' : 'Duration'}>{clockTime(view.seconds)}</Fact>
                <Fact name="Views">{view.view_count.toLocaleString('en-US')}</Fact>
              </Facts>
              <Share
                link={view.link}
                moment={{
                  link: view.link,
                  position: Math.min(view.position ?? 0, Math.floor(view.seconds)),
                }}
              />
            </div>
          </div>
          <Markers {...view} />
          <VideoSection heading="More videos" videos={view.others} now={view.now} />
        </div>
        <ChannelBar {...view.bar} />
      </>
    ),
  }
}

/** The markers, for those who do not point at pins. The script of the player seeks to them without loading the page again. */
const Markers = ({ id, markers }: { id: string; markers: readonly PlayerMarker[] }) =>
  markers.length === 0 ? null : (
    <section class="markers" aria-labelledby="markers-heading">
      <h2 id="markers-heading">Markers</h2>
      <ol>
        {markers.map(marker => (
          <li key={marker.id}>
            <a href={`/videos/${id}?t=${videoMoment(marker.seconds)}`} data-seek={marker.seconds}>
              {clockTime(marker.seconds)}
            </a>
            {marker.description ? (
              <span>{marker.description}</span>
            ) : (
              <span class="quiet">No description</span>
            )}
          </li>
        ))}
      </ol>
    </section>
  )
