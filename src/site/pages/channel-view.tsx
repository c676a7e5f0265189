/** @jsxRuntime automatic @jsxImportSource preact */
import type { ComponentProps } from 'preact'
import type { ProfileLink } from '../../domain/profile-link.ts'
import { clockTime } from '../../kit/time/clock-time.ts'
import { ChannelBar, type ChannelBarView } from '../components/channel-bar.tsx'
import type { Following } from '../components/follow.tsx'
import { type Channel, Header } from '../components/header.tsx'
import { Icon, PLAY } from '../components/icon.tsx'
import { Share, type SharedMoment } from '../components/share.tsx'
import { type ShownStream, StreamCard } from '../components/stream-card.tsx'
import { Ago } from '../components/time.tsx'
import { UNTITLED_VIDEO, VideoSection } from '../components/video-card.tsx'
import { day } from '../format/times.ts'
import { ChannelDrops } from '../islands/channel-drops.tsx'
import { ChannelLive } from '../islands/channel-live.tsx'
import { Player } from '../islands/player.tsx'
import type { Broadcast } from '../player/broadcast.ts'
import type { Page } from '../render/page.ts'
import { type PageSummary, wideImage } from '../render/summary.tsx'
import type { EndedVideo } from './latest-videos.ts'

/** What the page knows of campaigns on the channel. */
export type ChannelDropsView = Omit<ComponentProps<typeof ChannelDrops>, 'login' | 'now'>

interface ChannelView {
  readonly channel: Channel
  readonly description: string
  readonly links: readonly ProfileLink[]
  /** Undefined: offline. */
  readonly live: ShownStream | undefined
  /** Undefined: the broadcast plays elsewhere. */
  readonly broadcast: Broadcast | undefined
  /** Where viewers reach this node and no other. */
  readonly mediaUrl: string | undefined
  readonly following: Following
  /** Undefined: no campaign is active. */
  readonly drops: ChannelDropsView | undefined
  /** Newest first. */
  readonly videos: readonly EndedVideo[]
  /** Whether the newest video plays here. */
  readonly isLastPlayable: boolean
  /** The whole URL of the page. */
  readonly link: string
  /** What is live now, in its recording. */
  readonly moment: SharedMoment | undefined
  readonly bar: ChannelBarView
  readonly now: number
}

/** Whole rows of two and of three. */
const MAX_LIVE_NOW = 6

/** A channel: what it broadcasts now, and its latest videos. */
export function channelPage(view: ChannelView): Page {
  const { channel, description, links, live, broadcast, following, drops, videos, link, moment, now } = view
  const [last, ...earlier] = videos
  const { display_name } = channel
  return {
    title: live ? `${display_name} is live` : display_name,
    style: 'watch',
    summary: summarizeChannel(view),
    ...(broadcast && { media: [broadcast.origin, view.mediaUrl] }),
    body: (
      <>
        <div class="watch">
          {live ? (
            <Screen channel={channel} live={live} broadcast={broadcast} following={following} now={now} />
          ) : (
            <OffAir {...view} />
          )}
          <div class="masthead">
            {live ? (
              <ChannelLive channel={channel} live={live} following={following} now={now} />
            ) : (
              <Header
                channel={channel}
                title={display_name}
                byline={
                  last === undefined ? (
                    'Offline'
                  ) : (
                    <>
                      Offline · last live <Ago iso={last.ended_at} now={now} />
                    </>
                  )
                }
                following={following}
              />
            )}
            <Share link={link} {...(moment && { moment })} />
          </div>
          {drops && <ChannelDrops {...drops} login={channel.login} now={now} />}
          {(description !== '' || links.length > 0) && (
            <section class="about" aria-labelledby="about-heading">
              <h2 id="about-heading">About</h2>
              {description !== '' && <p>{description}</p>}
              <Links links={links} />
            </section>
          )}
          <VideoSection
            heading={live ? 'Past videos' : 'More videos'}
            videos={live ? videos : earlier}
            now={now}
          />
          {!live && earlier.length === 0 && <LiveNow streams={view.bar.live} now={now} />}
        </div>
        <ChannelBar {...view.bar} />
      </>
    ),
  }
}

const OffAir = ({ channel, following, videos: [last], isLastPlayable }: ChannelView) =>
  last === undefined ? (
    <NoBroadcast id={channel.id} isOwn={following.isOwn} />
  ) : (
    <LastBroadcast video={last} isPlayable={isLastPlayable} />
  )

/** What the channel showed last, where the player is while it is live. */
const LastBroadcast = ({ video, isPlayable }: { video: EndedVideo; isPlayable: boolean }) => (
  <a class="screen last-broadcast" href={`/videos/${video.id}`}>
    <img src={`/images/videos/${video.id}-1280x720.png`} width="1280" height="720" alt="" />
    {isPlayable && (
      <span class="play">
        <Icon shape={PLAY} />
      </span>
    )}
    <span class="caption">
      <span class="small">{isPlayable ? 'Watch the last broadcast' : 'Last broadcast'}</span>
      <strong>{video.title || UNTITLED_VIDEO}</strong>
    </span>
    <span class="length num">{clockTime(video.seconds)}</span>
  </a>
)

/** In place of a broadcast: the picture that the channel will have. */
const NoBroadcast = ({ id, isOwn }: { id: string; isOwn: boolean }) => (
  <section class="screen off-air" aria-labelledby="no-broadcast-heading">
    <img src={`/images/channels/${id}-1280x720.png`} width="1280" height="720" alt="" />
    <div class="caption">
      <h2 id="no-broadcast-heading">No broadcast yet</h2>
      {isOwn ? (
        <p>
          Your broadcasts play here, and stay as videos. The <a href="/studio">studio</a> has what your
          encoder needs.
        </p>
      ) : (
        <p>
          Broadcasts play here, and stay as videos. Follow the channel to see it on your home page when it
          goes live.
        </p>
      )}
    </div>
  </section>
)

/** A way on from a channel that has nothing more to show. */
const LiveNow = ({ streams, now }: { streams: readonly ShownStream[]; now: number }) =>
  streams.length === 0 ? null : (
    <section class="videos live-now" aria-labelledby="live-now-heading">
      <h2 id="live-now-heading">Live now</h2>
      <ul class="grid">
        {streams.slice(0, MAX_LIVE_NOW).map(stream => (
          <StreamCard key={stream.user_id} stream={stream} now={now} />
        ))}
      </ul>
    </section>
  )

/** What people link to is theirs: nothing is passed on to it. */
const Links = ({ links }: Pick<ChannelView, 'links'>) =>
  links.length === 0 ? null : (
    <ul class="links">
      {links.map(({ label, url }) => (
        <li key={url}>
          <a href={url} rel="nofollow noopener ugc">
            {label}
          </a>
        </li>
      ))}
    </ul>
  )
/** What it broadcasts; else its last broadcast, else its description. */
function summarizeChannel({ channel, description, live, videos: [last] }: ChannelView): PageSummary {
  const { id, login, display_name } = channel
  const about = { path: `/${login}`, type: 'profile' } as const
  if (live) {
    const game = live.game_name === '' ? '' : `${live.game_name}. `
    return {
      ...about,
      description: `Live: ${game}${live.title}`,
      image: wideImage(`/images/channels/${id}`, `${display_name}, live`),
    }
  }
  if (last !== undefined)
    return {
      ...about,
      description: `Last broadcast on ${day(last.created_at)}, ${clockTime(last.seconds)}: ${last.title || UNTITLED_VIDEO}`,
      image: wideImage(`/images/videos/${last.id}`, last.title || UNTITLED_VIDEO),
    }
  return {
    ...about,
    description: description || `${display_name} has not broadcast yet.`,
    image: { path: `/images/users/${id}-300x300.png`, width: 300, height: 300, alt: display_name },
  }
}

type ScreenProps = Pick<ChannelView, 'channel' | 'broadcast' | 'following' | 'now'> & {
  readonly live: ShownStream
}

const Screen = ({ channel, live, broadcast, following, now }: ScreenProps) => {
  const { id, login } = channel
  const startedAt = Date.parse(live.started_at)
  const poster = `/images/channels/${id}-1280x720.png`
  return broadcast ? (
    <Player
      channel={{ id, login }}
      broadcast={broadcast}
      startedAt={startedAt}
      seconds={Math.max(0, Math.floor((now - startedAt) / 1000))}
      poster={poster}
      label={`Live broadcast of ${channel.display_name}`}
      earns={following.csrf !== undefined}
    />
  ) : (
    <div class="screen">
      <img src={poster} width="1280" height="720" alt="" />
      <span class="live">Live</span>
      <p class="elsewhere">This broadcast does not play on this page.</p>
    </div>
  )
}
