import { channelState } from './channel-state.ts'
import { Controls } from './controls.ts'
import { LivePlayback, type LiveSource } from './live-playback.ts'
import type { PlayerView } from './player-view.ts'

export function startLive(view: PlayerView, source: LiveSource): void {
  const { user = '' } = view.root.dataset
  const playback = new LivePlayback(view, source, () => channelState(user))
  new Controls(view, playback)
  void playback.play()
}
