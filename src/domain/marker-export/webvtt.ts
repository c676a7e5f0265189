import { toChapters } from './chapters.ts'
import type { MarkerExport } from './marked-video.ts'

/** WebVTT for `<track kind="chapters">`. */
export function writeWebvtt(given: MarkerExport): string {
  const cues = toChapters(given).map(
    ({ start, end, name }) => `\n${formatTime(start)} --> ${formatTime(end)}\n${escaped(name)}\n`,
  )
  return `WEBVTT\n${cues.join('')}`
}

function formatTime(seconds: number): string {
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60]
  return `${parts.map(part => String(part).padStart(2, '0')).join(':')}.000`
}

/** Also breaks up `-->`, which would be taken for a line with times. */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
