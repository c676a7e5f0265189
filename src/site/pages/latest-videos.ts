import { videoSeconds } from '../../domain/timeline.ts'
import type { Store } from '../../store/store.ts'
import type { ListedVideo } from '../components/video-card.tsx'

/** The latest videos of a channel whose streams have ended, newest first. */
export async function latestVideos(
  store: Pick<Store, 'videos'>,
  { user_id, count, except, now }: { user_id: string; count: number; except?: string; now: number },
): Promise<ListedVideo[]> {
  // One may be live, and one may be left out.
  const window = { first: count + 2, direction: 'forward' } as const
  const { rows } = await store.videos.listed({ user_id, sort: 'time' }, window)
  return rows
    .filter(({ id, ended_at }) => ended_at !== null && id !== except)
    .slice(0, count)
    .map(video => ({ ...video, seconds: videoSeconds(video, now) }))
}
