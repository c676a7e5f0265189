/** Brings the player of a page to life. Loaded on demand; what only playlists need is loaded when one is opened. */
import { Controls } from './controls.ts'
import { Playback, type PlaybackOptions } from './playback.ts'
import { PlayerView } from './player-view.ts'
import { sendHeartbeats, type WatchedChannel } from './send-heartbeats.ts'
import { startSharing } from './start-sharing.ts'

/** A broadcast starts by itself, a recording with a click. `watched`: the channel whose viewer this is, if it sends heartbeats. */
export function startPlayer(
  root: HTMLElement,
  options: PlaybackOptions,
  watched: WatchedChannel | undefined,
): void {
  const view = new PlayerView(root)
  const playback = new Playback(view, options)
  new Controls(view, playback)
  startSharing(() => Number(view.part<HTMLInputElement>('seek').value))
  if (watched !== undefined) sendHeartbeats(view, watched)
  if (playback.isLive) void playback.play()
}
