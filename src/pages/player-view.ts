/** The HTML of the player. `player/` brings it to life; without a script it shows a picture and where the video is. */
import { clockTime } from '../kit/clock-time.ts'
import { type Html, html, Html as Markup } from '../kit/html.ts'

interface PlayerView {
  /** The path of the FLV. */
  readonly source: string
  readonly poster: string
  /** What is played, for people who cannot see it. */
  readonly label: string
  /** Absent: a live broadcast. */
  readonly recording?: { readonly seconds: number; readonly start: number }
}

const icon = (name: string, path: string): Html =>
  html`<svg class="${name}" viewBox="0 0 24 24" aria-hidden="true">${new Markup(path)}</svg>`

const PLAY =
  '<path d="M8 5.2v13.600a.8.8 0 0 0 1.220.680l11-6.800a.8.8 0 0 0 0-1.360l-11-6.800A.8.8 0 0 0 8 5.200z"/>'
const PAUSE = '<path d="M7 5h3.500v14H7zM13.500 5H17v14h-3.500z"/>'
const SPEAKER = '<path d="M4 9.500v5h3.200L12 19V5L7.200 9.500z"/>'
const SOUND = `${SPEAKER}<path class="stroke" d="M15 9.200a4 4 0 0 1 0 5.600M17.600 6.600a7.600 7.600 0 0 1 0 10.800"/>`
const SILENCE = `${SPEAKER}<path class="stroke" d="m15.500 9.500 5 5m0-5-5 5"/>`
const ENLARGE = '<path class="stroke" d="M4 9V4h5M20 9V4h-5M4 15v5h5M20 15v5h-5"/>'
const REDUCE = '<path class="stroke" d="M9 4v5H4M15 4v5h5M9 20v-5H4M15 20v-5h5"/>'

export function playerView({ source, poster, label, recording }: PlayerView): Html {
  const mode = recording === undefined ? 'live' : 'recording'
  const times =
    recording &&
    html`<input type="range" data-part="seek" min="0" max="${Math.max(recording.seconds, 1)}" step="1" value="${recording.start}" aria-label="Position" aria-valuetext="${clockTime(recording.start)}">
<span class="time"><span data-part="position">${clockTime(recording.start)}</span> / <span data-part="duration">${clockTime(recording.seconds)}</span></span>`
  return html`<div class="player" data-player="${mode}" data-source="${source}" data-state="idle" role="group" aria-label="Player">
<video data-part="video" playsinline preload="none" poster="${poster}" aria-label="${label}"></video>
<div class="shade" data-part="shade"></div>
<p class="message" data-part="message" role="status"></p>
<button class="start" data-part="start" type="button" aria-label="Play" hidden>${icon('play', PLAY)}</button>
<button class="unmute" data-part="unmute" type="button" hidden>${icon('silence', SILENCE)}Unmute</button>
<div class="bar" data-part="bar" hidden>
<button data-part="toggle" type="button" aria-label="Play">${icon('play', PLAY)}${icon('pause', PAUSE)}</button>
${times}<button data-part="mute" type="button" aria-label="Mute" aria-pressed="false">${icon('sound', SOUND)}${icon('silence', SILENCE)}</button>
<input type="range" data-part="volume" min="0" max="100" value="100" aria-label="Volume">
${recording ? undefined : html`<span class="on-air">Live</span><span class="gap"></span>`}
<button data-part="fullscreen" type="button" aria-label="Full screen" aria-pressed="false">${icon('enlarge', ENLARGE)}${icon('reduce', REDUCE)}</button>
</div>
<noscript><p class="message">Watching here needs JavaScript. Players such as VLC and ffplay open <a href="${source}">${source}</a>.</p></noscript>
</div>`
}
