import type { StreamMarker } from '../../contract/resources/marker.ts'
import type { FrameRateName } from '../../contract/resources/marker-file.ts'
import { videoMoment } from '../timeline.ts'

/** What a file of markers is made of. */
export interface MarkerExport {
  readonly video: MarkedVideo
  /** By position. */
  readonly markers: readonly StreamMarker[]
  readonly fps: FrameRateName
}

export interface MarkedVideo {
  readonly id: string
  readonly user_id: string
  readonly user_login: string
  readonly user_name: string
  readonly title: string
  readonly created_at: string
  /** So far, while the stream is live. */
  readonly duration_seconds: number
  readonly is_live: boolean
  readonly url: string
}

/** The length of a timeline that contains all markers: the latest may lie at the very end of a live video. */
export function timelineSeconds({ video, markers }: MarkerExport): number {
  const last = markers.at(-1)
  return Math.max(video.duration_seconds, last === undefined ? 0 : last.position_seconds + 1)
}

/** The URL of the video at a marker. */
export function markerUrl({ url }: MarkedVideo, { position_seconds }: StreamMarker): string {
  return `${url}?t=${videoMoment(position_seconds)}`
}
