/** Counts this viewer while the video plays (D-121), and shows the page what a viewer who is logged in earns (D-230). */
import { type Client, StrandError } from '../../client/index.ts'
import { HEARTBEAT_SECONDS } from '../../domain/playback.ts'
import { api } from '../scripts/api.ts'
import { type HeartbeatAnswer, setHeartbeatAnswer } from '../scripts/heartbeat-answer.ts'
import { setWatching } from '../scripts/own-viewer.ts'
import type { PlayerView } from './player-view.ts'

/** The channel that a player reports to. */
export interface WatchedChannel {
  readonly login: string
  /** Whether the viewer counts there. Otherwise heartbeats only earn drops. */
  readonly isCounted: boolean
}

export function sendHeartbeats(view: PlayerView, { login, isCounted }: WatchedChannel): void {
  const turn = heartbeatTurns(
    login,
    () => api().playback,
    answer => {
      setHeartbeatAnswer(answer)
      if (isCounted) setWatching(true)
    },
  )
  const beat = () => void turn(view.state === 'playing', performance.now())
  setInterval(beat, 1000)
  view.root.addEventListener('statechange', () => {
    beat()
    if (view.state === 'idle' || view.state === 'ended') setWatching(false)
  })
}

/** What happens at each turn: a heartbeat if one is due. `now` is in milliseconds. `counted` is called after each that was accepted. */
export function heartbeatTurns(
  login: string,
  playback: () => Client['playback'],
  counted: (answer: HeartbeatAnswer) => void = () => {},
) {
  let session: string | undefined
  let due = 0
  return async (isPlaying: boolean, now: number): Promise<void> => {
    if (!isPlaying || now < due) return
    due = now + HEARTBEAT_SECONDS * 1000
    try {
      session ??= (await playback().createPlaybackSession({ login })).data[0]?.session
      if (session === undefined) return
      counted(await playback().sendHeartbeat({ session }))
    } catch (error) {
      // After a session has expired, the next heartbeat starts another; other failures pass.
      if (error instanceof StrandError && error.status === 401) session = undefined
    }
  }
}
