/** @jsxRuntime automatic @jsxImportSource preact */
/** The player. The server renders its parts; without a script it shows a picture and where the video is. */
import { useEffect, useRef } from 'preact/hooks'
import { clockTime } from '../../kit/time/clock-time.ts'
import {
  CLOSE,
  ENLARGE,
  Icon,
  KEYBOARD,
  NARROW,
  PAUSE,
  PLAY,
  REDUCE,
  SILENCE,
  SMALL_PICTURE,
  SOUND,
  WIDE,
} from '../components/icon.tsx'
import type { Broadcast } from '../player/broadcast.ts'
import { KEY_LIST } from '../player/keys.ts'
import { island } from '../scripts/island.tsx'

interface PlayerProps {
  readonly channel: { readonly id: string; readonly login: string }
  readonly poster: string
  /** What is played, for people who cannot see it. */
  readonly label: string
  /** How long the recording is, or the broadcast is so far. */
  readonly seconds: number
  /** When the broadcast began, in milliseconds since 1970. */
  readonly startedAt: number
  /** While it runs. */
  readonly broadcast?: Broadcast
  /** The file or the playlist of a recording that is closed. */
  readonly recording?: string
  /** Where to begin, in seconds. Absent: live. */
  readonly start?: number
  readonly markers?: readonly PlayerMarker[]
  /** Whether the viewer is logged in, and so earns drops of a broadcast. */
  readonly earns?: boolean
}

export interface PlayerMarker {
  readonly id: string
  readonly seconds: number
  readonly description: string
}

const RATES = [0.5, 0.75, 1, 1.25, 1.5, 2]

/** The script works on the parts by name. It renders once: what changes afterwards is up to `player/`. */
export const Player = island('player', function Player(props: PlayerProps) {
  const { channel, poster, label, seconds, startedAt, broadcast, recording, start, markers = [] } = props
  const root = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const element = root.current
    if (element === null) return
    const options = { user_id: channel.id, seconds, startedAt, broadcast, recording, start }
    const isCounted = broadcast !== undefined && !broadcast.hasInventedViewers
    const sends = broadcast !== undefined && (isCounted || props.earns)
    const watched = sends ? { login: channel.login, isCounted } : undefined
    void import('../player/start.ts').then(({ startPlayer }) => startPlayer(element, options, watched))
  }, [])
  const source = broadcast?.source ?? recording ?? ''
  const isLive = start === undefined
  return (
    // biome-ignore lint/a11y/useSemanticElements: a player is no set of form fields
    <div
      ref={root}
      class="player"
      data-player={broadcast === undefined ? 'recording' : 'live'}
      data-mode={isLive ? 'live' : 'recorded'}
      data-state="idle"
      role="group"
      aria-label="Player"
    >
      {/* biome-ignore lint/a11y/useMediaCaption: broadcasts have no captions */}
      <video data-part="video" playsInline preload="none" poster={poster} aria-label={label} />
      <div class="shade" data-part="shade" />
      <p class="message" data-part="message" role="status" />
      <p class="hint" data-part="hint" role="status" />
      <button class="start" data-part="start" type="button" aria-label="Play" hidden>
        <Icon shape={PLAY} name="play" />
      </button>
      <button class="unmute" data-part="unmute" type="button" hidden>
        <Icon shape={SILENCE} name="silence" />
        Unmute
      </button>
      <div class="controls" data-part="bar" hidden>
        <Timeline seconds={seconds} start={start ?? seconds} markers={markers} isHidden={isLive} />
        <div class="buttons">
          <button data-part="toggle" type="button" aria-label="Play" title="Play or pause (k)">
            <Icon shape={PLAY} name="play" />
            <Icon shape={PAUSE} name="pause" />
          </button>
          <span class="volume">
            <button data-part="mute" type="button" aria-label="Mute" aria-pressed="false" title="Mute (m)">
              <Icon shape={SOUND} name="sound" />
              <Icon shape={SILENCE} name="silence" />
            </button>
            <input type="range" data-part="volume" min="0" max="100" value="100" aria-label="Volume" />
          </span>
          <button class="to-live" data-part="live" type="button" hidden={broadcast === undefined}>
            Live
          </button>
          <span class="time">
            <span data-part="position">{clockTime(start ?? seconds)}</span>
            <span class="whole">
              {' / '}
              <span data-part="duration">{clockTime(seconds)}</span>
            </span>
          </span>
          <span class="gap" />
          <select class="rate" data-part="rate" aria-label="Speed" title="Speed">
            {RATES.map(rate => (
              <option key={rate} value={rate} selected={rate === 1}>
                {rate}×
              </option>
            ))}
          </select>
          <button class="at-desk" data-part="keys" type="button" aria-label="Keys" title="Keys (?)">
            <Icon shape={KEYBOARD} />
          </button>
          <button
            data-part="picture"
            type="button"
            aria-label="Picture in picture"
            aria-pressed="false"
            title="Picture in picture (i)"
            hidden
          >
            <Icon shape={SMALL_PICTURE} />
          </button>
          <button
            class="at-desk"
            data-part="theatre"
            type="button"
            aria-label="Theatre mode"
            aria-pressed="false"
            title="Theatre mode (t)"
          >
            <Icon shape={WIDE} name="enlarge" />
            <Icon shape={NARROW} name="reduce" />
          </button>
          <button
            data-part="fullscreen"
            type="button"
            aria-label="Full screen"
            aria-pressed="false"
            title="Full screen (f)"
          >
            <Icon shape={ENLARGE} name="enlarge" />
            <Icon shape={REDUCE} name="reduce" />
          </button>
        </div>
      </div>
      <KeyList />
      <noscript>
        <p class="message">
          Watching here needs JavaScript. Players such as VLC and ffplay open <a href={source}>{source}</a>.
        </p>
      </noscript>
    </div>
  )
})

interface TimelineProps {
  readonly seconds: number
  readonly start: number
  readonly markers: readonly PlayerMarker[]
  readonly isHidden: boolean
}

/** The pins are for the pointer: the list of markers below the player has the same for the keyboard. */
const Timeline = ({ seconds, start, markers, isHidden }: TimelineProps) => (
  <div class="timeline" data-part="timeline" hidden={isHidden}>
    <input
      type="range"
      data-part="seek"
      min="0"
      max={Math.max(seconds, 1)}
      step="1"
      value={start}
      aria-label="Position"
      aria-valuetext={clockTime(start)}
    />
    <div class="track" data-part="track" aria-hidden="true">
      {markers.map(marker => (
        <button
          key={marker.id}
          class="pin"
          type="button"
          tabIndex={-1}
          data-pin={marker.seconds}
          data-seek={marker.seconds}
          data-text={marker.description || 'Marker'}
        />
      ))}
      <p class="tip" data-part="tip" hidden>
        <span data-part="tip-text" />
        <span class="num" data-part="tip-time" />
      </p>
    </div>
  </div>
)

const KeyList = () => (
  <dialog class="key-list" data-part="key-list" aria-labelledby="keys-heading">
    <form method="dialog">
      <h2 id="keys-heading">Keys</h2>
      <button class="close" type="submit" aria-label="Close">
        <Icon shape={CLOSE} />
      </button>
    </form>
    <dl>
      {KEY_LIST.map(({ keys, does }) => (
        <div key={does}>
          <dt>{does}</dt>
          <dd>
            {keys.map(key => (key === '…' ? <span key={key}>{key}</span> : <kbd key={key}>{key}</kbd>))}
          </dd>
        </div>
      ))}
    </dl>
  </dialog>
)
