/** @jsxRuntime automatic @jsxImportSource preact */
/** The broadcast, its markers and what viewers read about it. The islands work without a script as well: they are forms. */
import type { CampaignPhase } from '../../contract/resources/campaign.ts'
import type { ChannelInformation } from '../../contract/resources/channel.ts'
import type { MarkerFormat } from '../../contract/resources/marker-file.ts'
import type { EncoderStatus } from '../../domain/encoder-status.ts'
import type { ShownStream } from '../components/stream-card.tsx'
import { Until } from '../components/time.tsx'
import { languagesWith } from '../format/languages.ts'
import { StudioChannel } from '../islands/studio-channel.tsx'
import { StudioLive } from '../islands/studio-live.tsx'
import { StudioMarkers } from '../islands/studio-markers.tsx'
import type { Broadcast } from '../player/broadcast.ts'
import type { Page } from '../render/page.ts'
import type { MarkedVideo } from '../scripts/marked-video.ts'
import { GoLive } from './channel-view.tsx'
import { studioPath } from './studio-context.ts'
import { type StudioView, studioPage } from './studio-frame.tsx'

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

interface LiveView extends StudioView {
  readonly rtmpUrl: string | undefined
  readonly live: ShownStream | undefined
  readonly encoder: EncoderStatus | undefined
  readonly broadcast: Broadcast | undefined
  readonly about: ChannelInformation | undefined
  readonly campaigns: readonly StudioCampaign[]
  readonly marked: MarkedVideo | undefined
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

/** While live the key is of no use here, and a screen that is broadcast must not show it. */
export function livePage(view: LiveView): Page {
  const { isOwner, live } = view
  return studioPage(view, 'live', {
    scopes: isOwner ? ['channel:manage:broadcast', 'channel:read:stream_key'] : ['channel:manage:broadcast'],
    media: [view.broadcast?.origin],
    body: (
      <div class="studio">
        <OnAir {...view} />
        <div class="stack side">
          {live && <Markers {...view} />}
          {isOwner && !live && <GoLive {...view} />}
          {isOwner ? <StreamForm {...view} /> : <EditorNote name={view.channel.display_name} />}
        </div>
        {!live && (
          <div class="stack">
            <Markers {...view} />
          </div>
        )}
      </div>
    ),
  })
}

const OnAir = ({ channel, isOwner, now, live, encoder, broadcast }: LiveView) => (
  <div class="stack on-air">
    <StudioLive
      user_id={channel.id}
      login={channel.login}
      name={channel.display_name}
      isOwner={isOwner}
      now={now}
      {...(live && { stream: live })}
      {...(encoder && { encoder })}
      {...(broadcast && { broadcast })}
    />
  </div>
)

const Markers = ({ channel, csrf, marked }: LiveView) => (
  <section class="panel" id="markers" aria-labelledby="markers-heading">
    <StudioMarkers
      user_id={channel.id}
      action={`${studioPath(channel.login)}/markers`}
      csrf={csrf}
      {...(marked && { video: marked })}
      formats={formats}
    />
  </section>
)

const StreamForm = (view: LiveView) => {
  const { about, channel, csrf } = view
  return about === undefined ? null : (
    <section class="panel" id="channel" aria-labelledby="channel-heading">
      <h2 id="channel-heading">Stream</h2>
      <StudioChannel
        action={`${studioPath(channel.login)}/channel`}
        csrf={csrf}
        title={about.title}
        game={{ id: about.game_id, name: about.game_name }}
        language={about.broadcaster_language}
        languages={languagesWith(about.broadcaster_language)}
        tags={about.tags}
      />
      <Campaigns {...view} />
    </section>
  )
}

const EditorNote = ({ name }: { name: string }) => (
  <section class="panel" aria-labelledby="editor-heading">
    <h2 id="editor-heading">You are an editor</h2>
    <p class="quiet">
      You can watch the broadcast and add, rename, delete and export markers. Title, stream key and videos are
      up to {name}.
    </p>
  </section>
)

/** One line for each campaign of the game: viewers of the channel earn drops while it runs. */
const Campaigns = ({ campaigns, now }: Pick<LiveView, 'campaigns' | 'now'>) =>
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
              , {phase === 'active' ? 'ends' : 'starts'} <Until iso={at} now={now} />
            </span>
          </li>
        )
      })}
    </ul>
  )
