import { sendHeartbeat } from '../../contract/playback/send-heartbeat.ts'
import { refuse } from '../../contract/problem.ts'
import { namesViewer } from '../../domain/playback.ts'
import { implement } from '../implement.ts'

export const handleSendHeartbeat = implement(
  sendHeartbeat,
  async ({ body, address, userAgent }, { playbackSessions, heartbeats, watchTime, clock, demo }) => {
    const session = playbackSessions.open(body.session, clock.now())
    if (session === undefined) return refuse('invalid_session')
    if (!(await demo?.video?.hasInventedViewers(session.user_id)))
      heartbeats.beat(session, address(), userAgent)
    return namesViewer(session) ? watchTime.beat(session, address()) : undefined
  },
)
