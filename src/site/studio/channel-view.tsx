/** @jsxRuntime automatic @jsxImportSource preact */
/** What is set once for a channel: where its encoder sends, with which settings, and what viewers read about it. */
import type { ProfileLink } from '../../domain/profile-link.ts'
import { ENCODER_SETTINGS } from '../../domain/stream-health.ts'
import { Avatar } from '../components/avatar.tsx'
import { StudioKey } from '../islands/studio-key.tsx'
import type { Page } from '../render/page.ts'
import { studioPath } from './studio-context.ts'
import { type StudioView, studioPage } from './studio-frame.tsx'

interface ChannelView extends StudioView {
  readonly rtmpUrl: string | undefined
  readonly description: string
  readonly links: readonly ProfileLink[]
}

export const channelPage = (view: ChannelView): Page =>
  studioPage(view, 'channel', {
    scopes: ['channel:read:stream_key'],
    body: (
      <div class="studio halves">
        <div class="stack">
          <GoLive {...view} />
          <EncoderSettings />
        </div>
        <Profile {...view} />
      </div>
    ),
  })

export const GoLive = ({
  channel,
  csrf,
  rtmpUrl,
  streamKey,
}: Pick<ChannelView, 'channel' | 'csrf' | 'rtmpUrl' | 'streamKey'>) => (
  <section class="panel" id="go-live" aria-labelledby="go-live-heading">
    <h2 id="go-live-heading">Go live</h2>
    <StudioKey
      user_id={channel.id}
      action={`${studioPath(channel.login)}/key`}
      csrf={csrf}
      {...(rtmpUrl !== undefined && { server: rtmpUrl })}
      {...(streamKey !== undefined && { shown: streamKey })}
    />
  </section>
)

const EncoderSettings = () => (
  <section class="panel" aria-labelledby="encoder-heading">
    <h2 id="encoder-heading">Encoder settings</h2>
    <dl class="settings num">
      {ENCODER_SETTINGS.map(({ name, value, reason }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <strong>{value}</strong>
            <span class="quiet small">{reason}</span>
          </dd>
        </div>
      ))}
    </dl>
    <p class="quiet small">
      In OBS: <em>Settings → Output → Streaming</em>. Viewers get exactly what you send.
    </p>
  </section>
)

/** The picture and the words that a visitor of the channel finds. */
const Profile = ({ channel, description, links }: ChannelView) => (
  <section class="panel profile" aria-labelledby="profile-heading">
    <h2 id="profile-heading">What viewers see</h2>
    <img
      class="picture"
      src={`/images/channels/${channel.id}-1280x720.png`}
      width="1280"
      height="720"
      alt=""
    />
    <div class="who">
      <Avatar user_id={channel.id} size={56} />
      <div>
        <strong>{channel.display_name}</strong>
        <p class="small">
          <a href={`/${channel.login}`}>/{channel.login}</a>
        </p>
      </div>
    </div>
    <p class={description === '' ? 'quiet' : 'description'}>
      {description || 'Your channel has no description yet.'}
    </p>
    {links.length > 0 && (
      <ul class="plain-list">
        {links.map(({ label, url }) => (
          <li key={url}>{label}</li>
        ))}
      </ul>
    )}
    <div class="actions">
      <a class="button" href="/account#profile">
        Edit the profile
      </a>
      <a class="button" href={`/${channel.login}`}>
        View channel
      </a>
    </div>
  </section>
)
