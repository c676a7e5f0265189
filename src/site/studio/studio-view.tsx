/** @jsxRuntime automatic @jsxImportSource preact */
/** The studio of a channel. Its islands work without a script as well: they are forms. */
import type { CampaignPhase } from '../../contract/resources/campaign.ts'
import type { ChannelEditor, ChannelInformation } from '../../contract/resources/channel.ts'
import type { MarkerFormat } from '../../contract/resources/marker-file.ts'
import type { EncoderStatus } from '../../domain/encoder-status.ts'
import { clockTime } from '../../kit/time/clock-time.ts'
import type { Session } from '../../store/queries/accounts.ts'
import type { EditedChannel } from '../../store/queries/channels.ts'
import { Avatar } from '../components/avatar.tsx'
import { Form, type FormToken, LITERAL, Notice } from '../components/form.tsx'
import type { ShownStream } from '../components/stream-card.tsx'
import { type ListedVideo, UNTITLED_VIDEO } from '../components/video-card.tsx'
import { languagesWith } from '../format/languages.ts'
import { counted } from '../format/numbers.ts'
import { day, minute, timeUntil } from '../format/times.ts'
import { StudioChannel } from '../islands/studio-channel.tsx'
import { StudioKey } from '../islands/studio-key.tsx'
import { StudioLive } from '../islands/studio-live.tsx'
import { StudioMarkers } from '../islands/studio-markers.tsx'
import type { Broadcast } from '../player/broadcast.ts'
import type { Page } from '../render/page.ts'
import type { MarkedVideo } from '../scripts/marked-video.ts'
import { studioPath } from './desk.ts'

export interface StudioNotices {
  readonly done?: string | undefined
  readonly violation?: string | undefined
  /** The stream key, for a browser without a script that asked for it. */
  readonly streamKey?: string
}

interface StudioVideo extends Omit<ListedVideo, 'now'> {
  readonly isLive: boolean
}

/** A campaign of the game that is set. */
export interface StudioCampaign {
  readonly id: string
  readonly name: string
  readonly phase: CampaignPhase | null
  readonly starts_at: string
  readonly ends_at: string
  /** Whether the channel counts for it. */
  readonly isAdmitted: boolean
}

interface StudioView extends FormToken, StudioNotices {
  readonly channel: EditedChannel
  readonly isOwner: boolean
  readonly me: Session
  /** Other channels that the person may edit. */
  readonly edited: readonly EditedChannel[]
  readonly now: number
  readonly rtmpUrl: string | undefined
  readonly live: ShownStream | undefined
  readonly encoder: EncoderStatus | undefined
  readonly broadcast: Broadcast | undefined
  readonly about: ChannelInformation | undefined
  readonly campaigns: readonly StudioCampaign[]
  readonly marked: MarkedVideo | undefined
  readonly videos: readonly StudioVideo[]
  readonly moreVideos: string | undefined
  readonly editors: readonly ChannelEditor[]
}

const FORMATS: Readonly<Record<MarkerFormat, string>> = {
  csv: 'CSV, for spreadsheets',
  edl: 'EDL, for DaVinci Resolve',
  fcpxml: 'FCPXML, for Final Cut Pro',
  otio: 'OpenTimelineIO',
  ffmetadata: 'Chapters for FFmpeg',
  vtt: 'WebVTT chapters',
  youtube: 'Timestamps for YouTube',
  json: 'JSON',
}
const formats = Object.entries(FORMATS).map(([id, name]) => ({ id, name }))

export function studioPage(view: StudioView): Page {
  const { channel, isOwner, live, about, csrf } = view
  const base = studioPath(channel.login)
  return {
    title: isOwner ? 'Studio' : `Studio of ${channel.display_name}`,
    style: 'studio',
    section: 'studio',
    scopes: isOwner ? ['channel:manage:broadcast', 'channel:read:stream_key'] : ['channel:manage:broadcast'],
    status: view.violation === undefined ? 200 : 400,
    media: [view.broadcast?.origin],
    body: (
      <>
        <div class="studio-head">
          <h1>{isOwner ? 'Studio' : `Studio of ${channel.display_name}`}</h1>
          <Channels {...view} />
        </div>
        <Notice kind="bad" sentence={view.violation} />
        <Notice kind="good" sentence={view.done} />
        <div class="studio">
          <div class="stack on-air">
            <StudioLive
              user_id={channel.id}
              login={channel.login}
              name={channel.display_name}
              isOwner={isOwner}
              now={view.now}
              {...(live && { stream: live })}
              {...(view.encoder && { encoder: view.encoder })}
              {...(view.broadcast && { broadcast: view.broadcast })}
            />
          </div>
          <div class="stack side">
            {isOwner && (
              <section class="panel" id="go-live" aria-labelledby="go-live-heading">
                <h2 id="go-live-heading">Go live</h2>
                <StudioKey
                  user_id={channel.id}
                  action={`${base}/key`}
                  csrf={csrf}
                  {...(view.rtmpUrl !== undefined && { server: view.rtmpUrl })}
                  {...(view.streamKey !== undefined && { shown: view.streamKey })}
                />
              </section>
            )}
            {isOwner && about !== undefined && (
              <section class="panel" id="channel" aria-labelledby="channel-heading">
                <h2 id="channel-heading">Stream</h2>
                <StudioChannel
                  action={`${base}/channel`}
                  csrf={csrf}
                  title={about.title}
                  game={{ id: about.game_id, name: about.game_name }}
                  language={about.broadcaster_language}
                  languages={languagesWith(about.broadcaster_language)}
                  tags={about.tags}
                />
                <Campaigns {...view} />
              </section>
            )}
            {isOwner ? <Editors {...view} /> : <EditorNote name={channel.display_name} />}
          </div>
          <div class="stack work">
            <section class="panel" id="markers" aria-labelledby="markers-heading">
              <StudioMarkers
                user_id={channel.id}
                action={`${base}/markers`}
                csrf={csrf}
                {...(view.marked && { video: view.marked })}
                formats={formats}
              />
            </section>
          </div>
          <Videos {...view} />
        </div>
      </>
    ),
  }
}

/** The channels that the person works on: their own, and those that they edit. */
const Channels = ({ me, edited, channel }: StudioView) =>
  edited.length === 0 ? null : (
    <nav class="actions" aria-label="Channels">
      {[{ id: me.user_id, login: me.login, display_name: me.display_name }, ...edited].map(each => (
        <a
          key={each.id}
          class="chip"
          href={studioPath(each.login)}
          {...(each.id === channel.id && { 'aria-current': 'page' })}
        >
          {each.display_name}
        </a>
      ))}
    </nav>
  )

const EditorNote = ({ name }: { name: string }) => (
  <section class="panel" aria-labelledby="editor-heading">
    <h2 id="editor-heading">You are an editor</h2>
    <p class="quiet">
      You can watch the broadcast and add, rename, delete and export markers. Title, stream key and videos are
      up to {name}.
    </p>
  </section>
)

const Editors = ({ editors, channel, csrf }: StudioView) => {
  const action = `${studioPath(channel.login)}/editors`
  return (
    <section class="panel" id="editors" aria-labelledby="editors-heading">
      <h2 id="editors-heading">Editors</h2>
      <p class="quiet small">Editors add, rename, delete and export markers of your channel.</p>
      {editors.length > 0 && (
        <ul class="rows">
          {editors.map(({ user_id, user_name, created_at }) => (
            <li key={user_id}>
              <Avatar user_id={user_id} size={32} />
              <div class="what">
                <strong>{user_name}</strong>
                <div class="small quiet">since {day(created_at)}</div>
              </div>
              <Form action={action} fields={{ csrf, decision: 'remove', user_id }}>
                <button class="small-button" type="submit" aria-label={`Remove the editor ${user_name}`}>
                  Remove
                </button>
              </Form>
            </li>
          ))}
        </ul>
      )}
      <Form class="add" action={action} fields={{ csrf, decision: 'add' }}>
        <label class="hidden-text" for="editor-login">
          Name of the user
        </label>
        <input
          id="editor-login"
          class="input"
          name="login"
          maxLength={25}
          required
          {...LITERAL}
          placeholder="User name"
        />
        <button type="submit">Add editor</button>
      </Form>
    </section>
  )
}

const Videos = (view: StudioView) => {
  const { videos, moreVideos, channel } = view
  return (
    <section class="panel archive" id="videos" aria-labelledby="videos-heading">
      <h2 id="videos-heading">Videos</h2>
      {videos.length === 0 ? (
        <p class="quiet small">Every broadcast becomes a video here.</p>
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
            href={`${studioPath(channel.login)}?after=${encodeURIComponent(moreVideos)}#videos`}
          >
            Older videos
          </a>
        </p>
      )}
    </section>
  )
}

const VideoRow = ({ video, view }: { video: StudioVideo; view: StudioView }) => {
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
          <time datetime={created_at}>{minute(created_at)}</time> · {counted(view_count, 'view', 'views')}
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

/** One line for each campaign of the game: viewers of the channel earn drops while it runs. */
const Campaigns = ({ campaigns, now }: Pick<StudioView, 'campaigns' | 'now'>) =>
  campaigns.length === 0 ? null : (
    <ul class="campaigns small" aria-label="Drops campaigns of the game">
      {campaigns.map(({ id, name, phase, starts_at, ends_at, isAdmitted }) => {
        const at = phase === 'active' ? ends_at : starts_at
        return (
          <li key={id}>
            <strong>{name}</strong>{' '}
            <span class="quiet">
              {!isAdmitted
                ? 'Counts on other channels'
                : phase === 'active'
                  ? 'Your viewers earn drops'
                  : 'Your viewers will earn drops'}
              , {phase === 'active' ? 'ends' : 'starts'}{' '}
              <time datetime={at} title={minute(at)}>
                {timeUntil(at, now)}
              </time>
            </span>
          </li>
        )
      })}
    </ul>
  )
