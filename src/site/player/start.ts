/** Brings the player of a page to life. Loaded on demand; what only playlists need is loaded when one is opened. */
import { Controls } from './controls.ts'
import { Playback, type PlaybackOptions } from './playback.ts'
import { PlayerView } from './player-view.ts'
import { sendHeartbeats } from './send-heartbeats.ts'

/** A broadcast starts by itself, a recording with a click. `login`: the channel whose viewer this is, if it is counted. */
export function startPlayer(root: HTMLElement, options: PlaybackOptions, login: string | undefined): void {
  const view = new PlayerView(root)
  const playback = new Playback(view, options)
  new Controls(view, playback)
  if (login !== undefined) sendHeartbeats(view, login)
  if (playback.isLive) void playback.play()
}
