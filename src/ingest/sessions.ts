/** Publish sessions of media servers, as hooks and the reconciler open and end them. */
import { isRefusal } from '../contract/problem.ts'
import { decimalId } from '../kit/id.ts'
import type { Log } from '../kit/telemetry/log.ts'
import type { Clock } from '../kit/time/clock.ts'
import type { OpenedSession } from '../store/commands/publish-sessions.ts'
import type { MediaServerRow, SessionId } from '../store/queries/media-servers.ts'
import type { Store } from '../store/store.ts'
import { adapters } from './adapters/index.ts'
import { type Channel, type SessionRefusal, secondPublisherOn } from './may-publish.ts'

/** The longest id of a session that is kept. */
export const MAX_SESSION_LENGTH = 200

export interface SessionContext {
  readonly store: Store
  readonly clock: Clock
  readonly log: Log
}

export const toSessionId = ({ adapter, name }: MediaServerRow, session: string): SessionId => ({
  adapter,
  server: name,
  session,
})

/** Whether the API of the media server is polled: otherwise only its callbacks show what it does. */
export const isPolled = ({ adapter, api_url }: MediaServerRow): boolean =>
  api_url !== null && adapters[adapter].api !== undefined

export async function openPublishSession(
  { store, clock, log }: SessionContext,
  server: MediaServerRow,
  session: string,
  channel: Channel,
): Promise<OpenedSession | SessionRefusal> {
  const now = clock.now()
  const [stream_id, video_id] = [decimalId(now), decimalId(now)]
  const { user_id, login } = channel
  const { adapter, name } = server
  const { asksLate = false } = adapters[adapter]
  const opened = await store.commands.openSession({
    ...toSessionId(server, session),
    user_id,
    stream_id,
    video_id,
    watch_url: null,
    published_as: login,
    second_publisher: secondPublisherOn({ isPolled: isPolled(server), asksLate }),
    now,
  })
  if (isRefusal(opened))
    log.info({ adapter, server: name, user_id, reason: opened.problem }, 'publisher refused')
  else if (opened.stream_id === stream_id)
    log.info({ adapter, server: name, user_id, stream_id }, 'broadcast started')
  return opened
}
