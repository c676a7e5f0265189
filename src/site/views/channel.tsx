import { clockTime } from '../../kit/clock-time.ts'
import { Avatar } from '../components/avatar.tsx'
import { Fact, Facts } from '../components/facts.tsx'
import { type ListedVideo, VideoSection } from '../components/video-card.tsx'
import { Player } from '../islands/player.tsx'
import type { Page } from '../page.ts'

interface LiveView {
  readonly title: string
  readonly game_name: string
  readonly viewer_count: number
  readonly started_at: string
  readonly tags: readonly string[]
  readonly seconds: number
  /** The node that has the video; null or empty if there is only one. Undefined: the broadcast plays elsewhere. */
  readonly node: string | null | undefined
}

interface ChannelView {
  readonly id: string
  readonly login: string
  readonly display_name: string
  readonly description: string
  /** Undefined: offline. */
  readonly live: LiveView | undefined
  /** Newest first. */
  readonly videos: readonly ListedVideo[]
}

/** A channel: what it broadcasts now, and its latest videos. The script replaces the parts with `data-fresh`. */
export function channelPage(view: ChannelView): Page {
  const { live, display_name, description } = view
  return {
    title: live ? `${display_name} is live` : display_name,
    width: 'watch',
    ...(live?.node !== undefined && { node: live.node }),
    body: (
      <>
        {live && <Screen view={view} live={live} />}
        <div class="masthead" data-fresh="masthead">
          <Avatar user_id={view.id} size={64} />
          <div class="names">
            <h1>{live ? live.title || `${display_name} is live` : display_name}</h1>
            <p class="byline">
              {live ? (
                <>
                  <strong>{display_name}</strong>
                  {live.game_name !== '' && ` · ${live.game_name}`}
                </>
              ) : (
                'Offline'
              )}
            </p>
            {live && live.tags.length > 0 && (
              <ul class="tags" aria-label="Tags">
                {live.tags.map(tag => (
                  <li key={tag} class="chip">
                    {tag}
                  </li>
                ))}
              </ul>
            )}
          </div>
          {live && <Numbers {...live} />}
        </div>
        {description !== '' && (
          <section class="about" aria-labelledby="about-heading">
            <h2 id="about-heading">About {display_name}</h2>
            <p>{description}</p>
          </section>
        )}
        <VideoSection
          heading={live ? 'Past videos' : 'Videos'}
          videos={view.videos}
          ifNone={`${display_name} has no videos yet.`}
        />
      </>
    ),
  }
}

const Numbers = ({ viewer_count, started_at, seconds }: LiveView) => (
  <Facts>
    <Fact name="Viewers">{viewer_count.toLocaleString('en-US')}</Fact>
    <Fact name="Uptime">
      <time datetime={started_at} data-since={started_at}>
        {clockTime(seconds)}
      </time>
    </Fact>
  </Facts>
)

const Screen = ({ view, live }: { view: ChannelView; live: LiveView }) => {
  const poster = `/images/channels/${view.id}-1280x720.svg`
  return live.node === undefined ? (
    <div class="screen">
      <img src={poster} width="1280" height="720" alt="" />
      <span class="live">Live</span>
      <p class="elsewhere">{view.display_name} is live. This broadcast does not play on this page.</p>
    </div>
  ) : (
    <Player
      source={`/live/${view.login}.flv`}
      poster={poster}
      label={`Live broadcast of ${view.display_name}`}
    />
  )
}
