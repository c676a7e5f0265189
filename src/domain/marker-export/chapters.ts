import { type MarkerExport, timelineSeconds } from './marked-video.ts'
import { markerName } from './text.ts'

/** A part of the video, in seconds. */
export interface Chapter {
  readonly start: number
  readonly end: number
  readonly name: string
}

/** Markers as chapters: each lasts until the next. Those at the same position are one chapter with both names. */
export function toChapters(given: MarkerExport): Chapter[] {
  const names = new Map<number, string[]>()
  for (const [index, marker] of given.markers.entries()) {
    const here = names.get(marker.position_seconds) ?? []
    here.push(markerName(marker, index))
    names.set(marker.position_seconds, here)
  }
  const starts = [...names.keys()]
  return starts.map((start, index) => ({
    start,
    end: starts[index + 1] ?? timelineSeconds(given),
    name: names.get(start)?.join(' / ') ?? '',
  }))
}
