import { type Refusal, refuse } from '../contract/problem.ts'
import type { StreamMarker } from '../contract/resources/marker.ts'
import { type MarkerFileQuery, markerFormats } from '../contract/resources/marker-file.ts'
import { writeMarkers } from '../domain/marker-export/formats.ts'
import { videoSeconds } from '../domain/timeline.ts'
import { markerSortKey, type Video } from '../store/queries/videos.ts'
import type { Store } from '../store/store.ts'
import { type Services, TextFile } from './implement.ts'
import { videoUrl } from './render-video.ts'

/** More markers than any editor shows; a file with all of them has a few megabytes. */
const MAX_EXPORTED_MARKERS = 10_000
const STEP = 500

type MarkerMediaType = (typeof markerFormats)[keyof typeof markerFormats]['mediaType']

/** All markers of a video as a file, or none (D-112). */
export async function createMarkerFile(
  video: Video,
  { format, fps = '30' }: MarkerFileQuery,
  { store, clock, publicUrl }: Pick<Services, 'store' | 'clock' | 'publicUrl'>,
): Promise<TextFile<MarkerMediaType> | Refusal<'too_many_markers'>> {
  const markers = await readAllMarkers(store, video.id)
  if (markers.length > MAX_EXPORTED_MARKERS) return refuse('too_many_markers', MAX_EXPORTED_MARKERS)
  const marked = {
    ...video,
    duration_seconds: videoSeconds(video, clock.now()),
    is_live: video.ended_at === null,
    url: videoUrl(publicUrl, video.id),
  }
  const { mediaType, ending } = markerFormats[format]
  const text = writeMarkers(format, { video: marked, markers, fps })
  return new TextFile({ name: `${video.user_login}-${video.id}${ending}`, mediaType, text })
}

/** By position, and at most one step more than fit into a file. Other work can run between the steps. */
async function readAllMarkers(store: Store, video_id: string): Promise<StreamMarker[]> {
  const markers: StreamMarker[] = []
  for (;;) {
    const last = markers.at(-1)
    const { rows, more } = await store.markers.ofVideo(video_id, {
      first: STEP,
      direction: 'forward',
      ...(last && { from: markerSortKey(last) }),
    })
    markers.push(...rows)
    if (!more || markers.length > MAX_EXPORTED_MARKERS) return markers
    await Bun.sleep(0)
  }
}
