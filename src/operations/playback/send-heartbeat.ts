import { sendHeartbeat } from '../../contract/playback/send-heartbeat.ts'
import { refuse } from '../../contract/problem.ts'
import { implement } from '../implement.ts'

export const handleSendHeartbeat = implement(
  sendHeartbeat,
  ({ body, address }, { playbackSessions, heartbeats, clock, demo }) => {
    const session = playbackSessions.open(body.session, clock.now())
    if (session === undefined) return refuse('invalid_session')
    if (!demo?.inventedAudiences.has(session.user_id)) heartbeats.beat(session, address())
    return undefined
  },
)
