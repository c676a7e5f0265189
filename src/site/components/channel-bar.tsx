/** @jsxRuntime automatic @jsxImportSource preact */
/** Channels to go to, beside what plays on a wide window. */
import { shortCount } from '../format/numbers.ts'
import { Avatar } from './avatar.tsx'
import type { ShownStream } from './stream-card.tsx'

interface OfflineChannel {
  readonly user_id: string
  readonly user_login: string
  readonly user_name: string
}

export interface ChannelBarView {
  /** Undefined: not logged in. Live ones come first, those with the most viewers before others. */
  readonly followed:
    | { readonly live: readonly ShownStream[]; readonly offline: readonly OfflineChannel[] }
    | undefined
  /** Other live channels, those with the most viewers first. */
  readonly live: readonly ShownStream[]
}

export const ChannelBar = ({ followed, live }: ChannelBarView) => (
  <nav class="channel-bar" aria-label="Channels">
    {followed && (
      <>
        <h2>Following</h2>
        {followed.live.length + followed.offline.length === 0 ? (
          <p class="small quiet">Channels that you follow are listed here, live ones first.</p>
        ) : (
          <ul>
            {followed.live.map(stream => (
              <ChannelLink key={stream.user_id} channel={stream} live={stream} />
            ))}
            {followed.offline.map(channel => (
              <ChannelLink key={channel.user_id} channel={channel} />
            ))}
          </ul>
        )}
      </>
    )}
    {live.length > 0 ? (
      <>
        <h2>Live channels</h2>
        <ul>
          {live.map(stream => (
            <ChannelLink key={stream.user_id} channel={stream} live={stream} />
          ))}
        </ul>
      </>
    ) : (
      followed === undefined && <p class="small quiet">No channel is live.</p>
    )}
  </nav>
)

const ChannelLink = ({ channel, live }: { channel: OfflineChannel; live?: ShownStream }) => (
  <li>
    <a href={`/${channel.user_login}`} {...(live === undefined && { class: 'offline' })}>
      <Avatar user_id={channel.user_id} size={30} />
      <span class="who">
        <strong>{channel.user_name}</strong>
        <span class="quiet">{live === undefined ? 'Offline' : live.game_name}</span>
      </span>
      {live && (
        <span class="watching num">
          {shortCount(live.viewer_count)}
          <span class="hidden-text"> watching</span>
        </span>
      )}
    </a>
  </li>
)
