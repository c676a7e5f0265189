/** Counts this viewer while the video plays (D-121). */
import { StrandError } from '../../client/index.ts'
import { HEARTBEAT_SECONDS } from '../../domain/playback.ts'
import { api } from '../api.ts'
import type { PlayerView } from './player-view.ts'

export function sendHeartbeats(view: PlayerView, login: string): void {
  let session: string | undefined
  let due = 0
  setInterval(async () => {
    if (view.state !== 'playing' || performance.now() < due) return
    due = performance.now() + HEARTBEAT_SECONDS * 1000
    try {
      const { playback } = api()
      session ??= (await playback.createPlaybackSession({ login })).data[0]?.session
      if (session !== undefined) await playback.sendHeartbeat({ session })
    } catch (error) {
      // After a session has expired, the next turn starts another; other failures pass.
      if (error instanceof StrandError && error.status === 401) session = undefined
    }
  }, 1000)
}
