import { imageUrl } from '../contract/image-urls.ts'
import type { PublicVideo } from '../contract/resources/video.ts'
import { durationText, videoSeconds } from '../domain/timeline.ts'
import type { Video } from '../store/queries/videos.ts'

/** The address of the page of a video. */
export function videoUrl(publicUrl: string, id: string): string {
  return `${publicUrl}/videos/${id}`
}

/** A video as clients see it. */
export function renderVideo(video: Video, publicUrl: string, now: number): PublicVideo {
  const { game_id: _, ended_at: __, ...shown } = video
  return {
    ...shown,
    published_at: video.created_at,
    url: videoUrl(publicUrl, video.id),
    thumbnail_url: imageUrl(publicUrl, 'videos', video.id),
    viewable: 'public',
    type: 'archive',
    duration: durationText(videoSeconds(video, now)),
    muted_segments: null,
  }
}
