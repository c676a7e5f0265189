import { sendHeartbeat } from '../../contract/playback/send-heartbeat.ts'
import { refuse } from '../../contract/problem.ts'
import { implement } from '../implement.ts'

export const handleSendHeartbeat = implement(
  sendHeartbeat,
  ({ body, address, userAgent }, { playbackSessions, heartbeats, clock }) => {
    const session = playbackSessions.open(body.session, clock.now())
    if (session === undefined) return refuse('invalid_session')
    heartbeats.beat(session, address(), userAgent)
    return undefined
  },
)
