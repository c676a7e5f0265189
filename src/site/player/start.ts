/** Brings the player of a page to life. Loaded on demand, because the library that plays is large. */
import mpegts from 'mpegts.js'
import { channelState } from './channel-state.ts'
import { Controls } from './controls.ts'
import { LivePlayback } from './live-playback.ts'
import { PlayerView } from './player-view.ts'
import { RecordedPlayback } from './recorded-playback.ts'

// A lost connection is shown to the viewer; it is no error of the page.
mpegts.LoggingControl.enableAll = false

export function startPlayer(root: HTMLElement): void {
  const view = new PlayerView(root)
  const { source = '', user = '' } = root.dataset
  if (root.dataset.player === 'live') {
    const playback = new LivePlayback(view, source, () => channelState(user))
    new Controls(view, playback)
    void playback.play()
  } else {
    new Controls(view, new RecordedPlayback(view, source))
  }
}
