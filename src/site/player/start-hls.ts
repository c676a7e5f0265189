/** The same for a broadcast that is HLS, with another library and with heartbeats: files have no viewers to count. */
import { hlsSource } from './hls-source.ts'
import { PlayerView } from './player-view.ts'
import { sendHeartbeats } from './send-heartbeats.ts'
import { startLive } from './start-live.ts'

export function startPlayer(root: HTMLElement): void {
  const view = new PlayerView(root)
  const { source = '', login = '' } = root.dataset
  startLive(view, hlsSource(source))
  sendHeartbeats(view, login)
}
