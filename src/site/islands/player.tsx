/** @jsxRuntime automatic @jsxImportSource preact */
/** The player. The server renders its parts; without a script it shows a picture and where the video is. */
import { useEffect, useRef } from 'preact/hooks'
import { clockTime } from '../../kit/time/clock-time.ts'
import { island } from '../scripts/island.tsx'

interface PlayerProps {
  /** The path of the FLV, or the URL of the HLS playlist. */
  readonly source: string
  readonly protocol?: 'flv' | 'hls'
  /** The channel of a live broadcast: whether it is still live, and who watches it. */
  readonly channel?: { readonly id: string; readonly login: string }
  readonly poster: string
  /** What is played, for people who cannot see it. */
  readonly label: string
  /** Absent: a live broadcast. */
  readonly recording?: Recording
}

interface Recording {
  readonly seconds: number
  readonly start: number
  readonly markers: readonly PlayerMarker[]
}

export interface PlayerMarker {
  readonly id: string
  readonly seconds: number
  readonly description: string
}

const PLAY = 'M8 5.2v13.6a.8.8 0 0 0 1.22.68l11-6.8a.8.8 0 0 0 0-1.36l-11-6.8A.8.8 0 0 0 8 5.2z'
const PAUSE = 'M7 5h3.5v14H7zM13.5 5H17v14h-3.5z'
const SPEAKER = 'M4 9.5v5h3.2L12 19V5L7.2 9.5z'
const WAVES = 'M15 9.200a4 4 0 0 1 0 5.600M17.600 6.600a7.600 7.600 0 0 1 0 10.800'
const CROSS = 'm15.5 9.5 5 5m0-5-5 5'
const ENLARGE = 'M4 9V4h5M20 9V4h-5M4 15v5h5M20 15v5h-5'
const REDUCE = 'M9 4v5H4M15 4v5h5M9 20v-5H4M15 20v-5h5'

const PartIcon = ({ name, fill, lines }: { name: string; fill?: string; lines?: string }) => (
  <svg class={name} viewBox="0 0 24 24" aria-hidden="true">
    {fill !== undefined && <path d={fill} />}
    {lines !== undefined && <path class="stroke" d={lines} />}
  </svg>
)

/** The script works on the parts by name. It renders once: what changes afterwards is up to `player/`. */
export const Player = island(
  'player',
  function Player({ source, protocol, channel, poster, label, recording }: PlayerProps) {
    const root = useRef<HTMLDivElement>(null)
    useEffect(() => {
      const element = root.current
      if (element === null) return
      const player = protocol === 'hls' ? import('../player/start-hls.ts') : import('../player/start.ts')
      void player.then(({ startPlayer }) => startPlayer(element))
    }, [])
    return (
      // biome-ignore lint/a11y/useSemanticElements: a player is no set of form fields
      <div
        ref={root}
        class="player"
        data-player={recording === undefined ? 'live' : 'recording'}
        data-source={source}
        data-user={channel?.id}
        data-login={channel?.login}
        data-state="idle"
        role="group"
        aria-label="Player"
      >
        {/* biome-ignore lint/a11y/useMediaCaption: broadcasts have no captions */}
        <video data-part="video" playsInline preload="none" poster={poster} aria-label={label} />
        <div class="shade" data-part="shade" />
        <p class="message" data-part="message" role="status" />
        <button class="start" data-part="start" type="button" aria-label="Play" hidden>
          <PartIcon name="play" fill={PLAY} />
        </button>
        <button class="unmute" data-part="unmute" type="button" hidden>
          <PartIcon name="silence" fill={SPEAKER} lines={CROSS} />
          Unmute
        </button>
        <div class="controls" data-part="bar" hidden>
          <button data-part="toggle" type="button" aria-label="Play">
            <PartIcon name="play" fill={PLAY} />
            <PartIcon name="pause" fill={PAUSE} />
          </button>
          {recording !== undefined && <Times {...recording} />}
          <button data-part="mute" type="button" aria-label="Mute" aria-pressed="false">
            <PartIcon name="sound" fill={SPEAKER} lines={WAVES} />
            <PartIcon name="silence" fill={SPEAKER} lines={CROSS} />
          </button>
          <input type="range" data-part="volume" min="0" max="100" value="100" aria-label="Volume" />
          {recording === undefined && (
            <>
              <span class="on-air">Live</span>
              <span class="gap" />
            </>
          )}
          <button data-part="fullscreen" type="button" aria-label="Full screen" aria-pressed="false">
            <PartIcon name="enlarge" lines={ENLARGE} />
            <PartIcon name="reduce" lines={REDUCE} />
          </button>
        </div>
        <noscript>
          <p class="message">
            Watching here needs JavaScript. Players such as VLC and ffplay open <a href={source}>{source}</a>.
          </p>
        </noscript>
      </div>
    )
  },
)

const Times = ({ seconds, start, markers }: Recording) => (
  <>
    <div class="timeline">
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
      {markers.length > 0 && <Ticks seconds={seconds} markers={markers} />}
    </div>
    <span class="time">
      <span data-part="position">{clockTime(start)}</span> /{' '}
      <span data-part="duration">{clockTime(seconds)}</span>
    </span>
  </>
)

/** Where the markers are; their list is below the player. */
const Ticks = ({ seconds, markers }: Pick<Recording, 'seconds' | 'markers'>) => (
  <svg class="ticks" viewBox={`0 0 ${Math.max(seconds, 1)} 10`} preserveAspectRatio="none" aria-hidden="true">
    {markers.map(marker => (
      <path key={marker.id} d={`M${marker.seconds} 0V10`} vector-effect="non-scaling-stroke" />
    ))}
  </svg>
)
