import type { StreamMarker } from '../../contract/resources/marker.ts'
import type { MarkedVideo } from './marked-video.ts'

/** Text on one line, without control characters and without the two noncharacters that XML and FFmpeg refuse. */
export function oneLine(text: string): string {
  return text
    .replace(/[\uFFFE\uFFFF]/g, '')
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()
}

/** The name of a marker in formats that need one: its description, or its number if it has none. */
export function markerName({ description }: StreamMarker, index: number): string {
  return oneLine(description) || `Marker ${index + 1}`
}

export function videoName({ title, user_name, id }: MarkedVideo): string {
  return oneLine(title) || oneLine(`${user_name} ${id}`)
}
