import { api } from '../scripts/api.ts'
import { Controls } from './controls.ts'
import { LivePlayback, type LiveSource } from './live-playback.ts'
import type { PlayerView } from './player-view.ts'

export function startLive(view: PlayerView, source: LiveSource): void {
  const { user = '' } = view.root.dataset
  // Also while its publisher reconnects.
  const channelState = async () => {
    const timely = { signal: AbortSignal.timeout(5000) }
    const streams = await api()
      .helix.getStreams({ user_id: [user] }, timely)
      .catch(() => undefined)
    return streams === undefined ? 'unknown' : streams.data.length === 0 ? 'offline' : 'live'
  }
  const playback = new LivePlayback(view, source, channelState)
  new Controls(view, playback)
  void playback.play()
}
