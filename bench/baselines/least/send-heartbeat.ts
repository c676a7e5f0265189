import { PlaybackSessions } from '../../../src/auth/playback-sessions.ts'
import { namesViewer } from '../../../src/domain/playback.ts'
import { slotAt, withSlot } from '../../../src/domain/watched-minutes.ts'
import type { LeastOperation } from './operation.ts'

/** Opens the session, and counts the minute of its viewer in the one campaign that there is. */
export const sendHeartbeat: LeastOperation = ({ ring, reader }) => {
  const sessions = new PlaybackSessions(ring)
  const [{ id: campaign_id } = { id: '' }] = reader.all<{ id: string }>('select id from campaigns')()
  const viewers = new Map<string, { slot: number; recent: number; minutes: number }>()
  return async (_search, _caller, request) => {
    const { session } = (await request.json()) as { session: string }
    const now = Date.now()
    const opened = sessions.open(session, now)
    if (opened === undefined || !namesViewer(opened)) throw new Error('the session is invalid')
    const viewer = viewers.get(opened.viewer) ?? { slot: 0, recent: 0, minutes: 0 }
    const counted = withSlot(viewer, slotAt(now))
    if (counted !== undefined) viewers.set(opened.viewer, { ...counted, minutes: viewer.minutes + 1 })
    return JSON.stringify({ data: [{ campaign_id, minutes: viewer.minutes + 1, claimable: [] }] })
  }
}
