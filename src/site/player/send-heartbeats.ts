/** Counts this viewer while the video plays (D-121). */
import { type Client, StrandError } from '../../client/index.ts'
import { HEARTBEAT_SECONDS } from '../../domain/playback.ts'
import { api } from '../scripts/api.ts'
import type { PlayerView } from './player-view.ts'

export function sendHeartbeats(view: PlayerView, login: string): void {
  const turn = heartbeatTurns(login, () => api().playback)
  setInterval(() => void turn(view.state === 'playing', performance.now()), 1000)
}

/** What happens at each turn: a heartbeat if one is due. `now` is in milliseconds. */
export function heartbeatTurns(login: string, playback: () => Client['playback']) {
  let session: string | undefined
  let due = 0
  return async (isPlaying: boolean, now: number): Promise<void> => {
    if (!isPlaying || now < due) return
    due = now + HEARTBEAT_SECONDS * 1000
    try {
      session ??= (await playback().createPlaybackSession({ login })).data[0]?.session
      if (session !== undefined) await playback().sendHeartbeat({ session })
    } catch (error) {
      // After a session has expired, the next heartbeat starts another; other failures pass.
      if (error instanceof StrandError && error.status === 401) session = undefined
    }
  }
}
