import { FRAME_RATES, frameAt } from './frame-rate.ts'
import { type MarkerExport, timelineSeconds } from './marked-video.ts'
import { markerName, videoName } from './text.ts'

/** An OpenTimelineIO timeline: one video track with a gap as long as the video, and the markers on the stack of tracks. */
export function writeOtio(given: MarkerExport): string {
  const { video, markers, fps } = given
  const frameRate = FRAME_RATES[fps]
  const rate = frameRate.numerator / frameRate.denominator
  const time = (value: number) => ({ OTIO_SCHEMA: 'RationalTime.1', rate, value })
  const range = (start: number, duration: number) => ({
    OTIO_SCHEMA: 'TimeRange.1',
    start_time: time(start),
    duration: time(duration),
  })
  const item = { metadata: {}, effects: [], markers: [], enabled: true }
  const gap = {
    OTIO_SCHEMA: 'Gap.1',
    ...item,
    name: '',
    source_range: range(0, frameAt(timelineSeconds(given), frameRate)),
  }
  const track = {
    OTIO_SCHEMA: 'Track.1',
    ...item,
    name: 'Video',
    kind: 'Video',
    source_range: null,
    children: [gap],
  }
  const stack = {
    OTIO_SCHEMA: 'Stack.1',
    ...item,
    name: 'tracks',
    source_range: null,
    markers: markers.map((marker, index) => ({
      OTIO_SCHEMA: 'Marker.2',
      metadata: { strand: { id: marker.id, created_at: marker.created_at } },
      name: markerName(marker, index),
      comment: marker.description,
      color: 'BLUE',
      marked_range: range(frameAt(marker.position_seconds, frameRate), 1),
    })),
    children: [track],
  }
  const { id, user_login, created_at, url } = video
  const timeline = {
    OTIO_SCHEMA: 'Timeline.1',
    metadata: { strand: { video_id: id, user_login, created_at, url } },
    name: videoName(video),
    global_start_time: time(0),
    tracks: stack,
  }
  return `${JSON.stringify(timeline, null, 2)}\n`
}
