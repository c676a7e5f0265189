import { createPlaybackSession } from '../../contract/playback/create-playback-session.ts'
import { isRefusal, refuse } from '../../contract/problem.ts'
import { SITE_CLIENT_ID } from '../../contract/site-client.ts'
import type { Caller } from '../../domain/caller.ts'
import { HEARTBEAT_SECONDS } from '../../domain/playback.ts'
import { isoMillis } from '../../kit/time/clock.ts'
import type { Store } from '../../store/store.ts'
import { implement } from '../implement.ts'

export const handleCreatePlaybackSession = implement(
  createPlaybackSession,
  async ({ body: { login, video_id }, caller }, { store, clock, playbackSessions }) => {
    if ((login === undefined) === (video_id === undefined))
      return refuse('not_exactly_one', 'login', 'video_id')
    const watched =
      login === undefined ? await findVideo(store, video_id ?? '') : await findChannel(store, login)
    if (isRefusal(watched)) return watched
    const viewer = await findViewer(store, caller)
    const { session, expires_at } = playbackSessions.mint({ ...watched, viewer }, clock.now())
    const earns_drops = viewer !== undefined && watched.watches === 'live'
    return {
      data: [
        { session, expires_at: isoMillis(expires_at), heartbeat_seconds: HEARTBEAT_SECONDS, earns_drops },
      ],
    }
  },
)

/** The user who watches, if the application may count for drops (D-210). */
async function findViewer(store: Store, caller: Caller): Promise<string | undefined> {
  if (caller.kind !== 'user') return undefined
  const { client_id, user_id } = caller
  if (client_id === SITE_CLIENT_ID) return user_id
  return (await store.clients.find(client_id))?.counts_watching ? user_id : undefined
}

async function findChannel(store: Store, login: string) {
  const user = await store.users.activeWithLogin(login)
  return user ? ({ user_id: user.id, watches: 'live' } as const) : refuse('name_not_found', 'channel', login)
}

async function findVideo(store: Store, id: string) {
  const video = await store.videos.find(id)
  return video ? ({ user_id: video.user_id, watches: 'video' } as const) : refuse('video_not_found', id)
}
