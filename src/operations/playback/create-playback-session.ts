import { createPlaybackSession } from '../../contract/playback/create-playback-session.ts'
import { raise, refuse } from '../../contract/problem.ts'
import { HEARTBEAT_SECONDS } from '../../domain/playback.ts'
import { isoMillis } from '../../kit/clock.ts'
import type { Store } from '../../store/store.ts'
import { implement } from '../implement.ts'

export const handleCreatePlaybackSession = implement(
  createPlaybackSession,
  async ({ body: { login, video_id } }, { store, clock, playbackSessions }) => {
    if ((login === undefined) === (video_id === undefined))
      return refuse('not_exactly_one', 'login', 'video_id')
    const watched = login === undefined ? await videoOf(store, video_id ?? '') : await channelOf(store, login)
    const { session, expires_at } = playbackSessions.mint(watched, clock.now())
    return {
      data: [{ session, expires_at: isoMillis(expires_at), heartbeat_seconds: HEARTBEAT_SECONDS }],
    }
  },
)

async function channelOf(store: Store, login: string) {
  const { id } = (await store.users.withLogin(login)) ?? raise('name_not_found', 'channel', login)
  return { user_id: id, watches: 'live' } as const
}

async function videoOf(store: Store, id: string) {
  const { user_id } = (await store.videos.find(id)) ?? raise('video_not_found', id)
  return { user_id, watches: 'video' } as const
}
