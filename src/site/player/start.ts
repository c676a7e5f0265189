/** Brings the player of a page to life. Loaded on demand, because the library that plays is large. */
import { Controls } from './controls.ts'
import { flvSource } from './flv-source.ts'
import { PlayerView } from './player-view.ts'
import { RecordedPlayback } from './recorded-playback.ts'
import { startLive } from './start-live.ts'

export function startPlayer(root: HTMLElement): void {
  const view = new PlayerView(root)
  const { source = '' } = root.dataset
  if (root.dataset.player === 'live') startLive(view, flvSource(source))
  else new Controls(view, new RecordedPlayback(view, source))
}
