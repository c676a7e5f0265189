import { videoSeconds } from '../../domain/timeline.ts'
import type { Store } from '../../store/store.ts'
import type { ListedVideo } from '../components/video-card.tsx'

/** A video whose stream has ended. */
export interface EndedVideo extends ListedVideo {
  readonly user_id: string
  readonly ended_at: string
}

interface LatestVideos {
  /** Videos of a channel, or of a game. */
  readonly user_id?: string
  readonly game_id?: string
  readonly count: number
  readonly except?: string
  readonly now: number
}

/** The latest videos of a channel or of a game whose streams have ended, newest first. */
export async function latestVideos(
  store: Pick<Store, 'videos'>,
  { user_id, game_id, count, except, now }: LatestVideos,
): Promise<EndedVideo[]> {
  // Of a channel one may be live, and one may be left out. Of a game many may be live: twice as many are looked at.
  const first = game_id === undefined ? count + 2 : 2 * count
  const { rows } = await store.videos.listed(
    { user_id, game_id, sort: 'time' },
    { first, direction: 'forward' },
  )
  return rows
    .flatMap(video => {
      const { id, ended_at } = video
      return ended_at === null || id === except
        ? []
        : [{ ...video, ended_at, seconds: videoSeconds(video, now) }]
    })
    .slice(0, count)
    .map(video =>
      game_id === undefined
        ? video
        : { ...video, channel: { login: video.user_login, name: video.user_name } },
    )
}
