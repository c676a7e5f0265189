import { toChapters } from './chapters.ts'
import type { MarkerExport } from './marked-video.ts'
import { oneLine, videoName } from './text.ts'

/** Chapters as FFmpeg reads them: `ffmpeg -i video -i chapters.ffmetadata -map_metadata 1 -map_chapters 1 -codec copy`. */
export function writeFfmetadata(given: MarkerExport): string {
  const { video } = given
  const lines = [
    ';FFMETADATA1',
    `title=${escaped(videoName(video))}`,
    `artist=${escaped(oneLine(video.user_name))}`,
    `creation_time=${video.created_at}`,
  ]
  for (const { start, end, name } of toChapters(given)) {
    lines.push(
      '[CHAPTER]',
      'TIMEBASE=1/1000',
      `START=${start * 1000}`,
      `END=${end * 1000}`,
      `title=${escaped(name)}`,
    )
  }
  return `${lines.join('\n')}\n`
}

/** FFmpeg continues a line that ends with a backslash, escaped or not, so a space follows it there. */
function escaped(text: string): string {
  return text.replace(/[=;#\\]/g, '\\$&').replace(/\\$/, '$& ')
}
