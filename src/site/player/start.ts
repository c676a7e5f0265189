/** Brings the player of a page to life. Loaded on demand, because the library that plays is large. */
import mpegts from 'mpegts.js'
import { Controls } from './controls.ts'
import { flvSource } from './flv-source.ts'
import { PlayerView } from './player-view.ts'
import { RecordedPlayback } from './recorded-playback.ts'
import { startLive } from './start-live.ts'

// A lost connection is shown to the viewer; it is no error of the page.
mpegts.LoggingControl.enableAll = false

export function startPlayer(root: HTMLElement): void {
  const view = new PlayerView(root)
  const { source = '' } = root.dataset
  if (root.dataset.player === 'live') startLive(view, flvSource(source))
  else new Controls(view, new RecordedPlayback(view, source))
}
