import { videoSeconds } from '../../domain/timeline.ts'
import type { Store } from '../../store/store.ts'
import type { ListedVideo } from '../components/video-card.tsx'

/** A video whose stream has ended. */
export interface EndedVideo extends ListedVideo {
  readonly user_id: string
  readonly ended_at: string
}

/** The latest videos of a channel whose streams have ended, newest first. */
export async function latestVideos(
  store: Pick<Store, 'videos'>,
  { user_id, count, except, now }: { user_id: string; count: number; except?: string; now: number },
): Promise<EndedVideo[]> {
  // One may be live, and one may be left out.
  const window = { first: count + 2, direction: 'forward' } as const
  const { rows } = await store.videos.listed({ user_id, sort: 'time' }, window)
  return rows
    .flatMap(video => {
      const { id, ended_at } = video
      return ended_at === null || id === except
        ? []
        : [{ ...video, ended_at, seconds: videoSeconds(video, now) }]
    })
    .slice(0, count)
}
