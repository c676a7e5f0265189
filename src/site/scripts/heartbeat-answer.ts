/** What the last heartbeat of the player on this page earned: the part of the page about drops shows it (D-230). */
import { useEffect, useState } from 'preact/hooks'
import type { Client } from '../../client/index.ts'

/** Undefined: the session of the player names no viewer. */
export type HeartbeatAnswer = Awaited<ReturnType<Client['playback']['sendHeartbeat']>>

let latest: HeartbeatAnswer
const listeners = new Set<() => void>()

export function setHeartbeatAnswer(answer: HeartbeatAnswer): void {
  latest = answer
  for (const listener of listeners) listener()
}

export function useHeartbeatAnswer(): HeartbeatAnswer {
  const [answer, setAnswer] = useState<HeartbeatAnswer>()
  useEffect(() => {
    const update = () => setAnswer(latest)
    update()
    listeners.add(update)
    return () => {
      listeners.delete(update)
    }
  }, [])
  return answer
}
