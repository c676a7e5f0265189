import { createPlaybackSession } from '../../contract/playback/create-playback-session.ts'
import { isRefusal, refuse } from '../../contract/problem.ts'
import { HEARTBEAT_SECONDS } from '../../domain/playback.ts'
import { isoMillis } from '../../kit/time/clock.ts'
import type { Store } from '../../store/store.ts'
import { implement } from '../implement.ts'

export const handleCreatePlaybackSession = implement(
  createPlaybackSession,
  async ({ body: { login, video_id } }, { store, clock, playbackSessions }) => {
    if ((login === undefined) === (video_id === undefined))
      return refuse('not_exactly_one', 'login', 'video_id')
    const watched =
      login === undefined ? await findVideo(store, video_id ?? '') : await findChannel(store, login)
    if (isRefusal(watched)) return watched
    const { session, expires_at } = playbackSessions.mint(watched, clock.now())
    return {
      data: [{ session, expires_at: isoMillis(expires_at), heartbeat_seconds: HEARTBEAT_SECONDS }],
    }
  },
)

async function findChannel(store: Store, login: string) {
  const user = await store.users.withLogin(login)
  return user ? ({ user_id: user.id, watches: 'live' } as const) : refuse('name_not_found', 'channel', login)
}

async function findVideo(store: Store, id: string) {
  const video = await store.videos.find(id)
  return video ? ({ user_id: video.user_id, watches: 'video' } as const) : refuse('video_not_found', id)
}
