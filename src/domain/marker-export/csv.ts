import { FRAME_RATES, frameAt, timecode } from './frame-rate.ts'
import { type MarkerExport, markerUrl } from './marked-video.ts'

const HEADER = ['id', 'position_seconds', 'timecode', 'created_at', 'description', 'url']

/** RFC 4180, with a header. */
export function writeCsv({ video, markers, fps }: MarkerExport): string {
  const rate = FRAME_RATES[fps]
  const rows = markers.map(marker => [
    marker.id,
    String(marker.position_seconds),
    timecode(frameAt(marker.position_seconds, rate), rate),
    marker.created_at,
    asData(marker.description),
    markerUrl(video, marker),
  ])
  return [HEADER, ...rows].map(row => `${row.map(quoted).join(',')}\r\n`).join('')
}

/** What a spreadsheet would take for a formula. The apostrophe in front of it means text, and is not shown. */
const FORMULA = /^\s*[=+\-@＝＋－＠]|^[\t\r\n]/
/**
 * The same behind a character that another program may take for the end of a cell, whatever quotes are around: where the
 * decimal sign is a comma, spreadsheets separate cells by semicolons.
 */
const FORMULA_BEHIND_SEPARATOR = /(?<=[;|\t\r\n][\s"']*)[=+\-@＝＋－＠]/g

function asData(text: string): string {
  const printable = text.replace(/(?![\t\r\n])\p{Cc}/gu, '').replace(FORMULA_BEHIND_SEPARATOR, "'$&")
  return FORMULA.test(printable) ? `'${printable}` : printable
}

function quoted(text: string): string {
  return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
