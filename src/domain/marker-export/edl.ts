import { FRAME_RATES, frameAt, framesPerHour, timecode } from './frame-rate.ts'
import type { MarkerExport } from './marked-video.ts'
import { markerName, videoName } from './text.ts'

/** Lines of CMX 3600 have at most 80 characters of ASCII. */
const MAX_LINE = 80
/** Timecode starts over after a day. */
const HOURS = 24

/**
 * An edit decision list (CMX 3600) in which each marker is an event of one frame, followed by a line with its colour, name
 * and duration, as DaVinci Resolve writes and reads markers. The timeline starts at one hour, the default of Resolve, so the
 * list reaches 23 hours. Numbers of events have three digits, and four from 1000 on.
 */
export function writeEdl({ video, markers, fps }: MarkerExport): string {
  const rate = FRAME_RATES[fps]
  const start = framesPerHour(rate)
  const fitting = markers.filter(
    ({ position_seconds }) => start + frameAt(position_seconds, rate) + 1 < start * HOURS,
  )
  const events = fitting.flatMap((marker, index) => {
    const frame = start + frameAt(marker.position_seconds, rate)
    const range = `${timecode(frame, rate)} ${timecode(frame + 1, rate)}`
    return [
      `${String(index + 1).padStart(3, '0')}  001      V     C        ${range} ${range}`,
      markerLine(ascii(markerName(marker, index)) ?? `Marker ${index + 1}`),
      '',
    ]
  })
  const beyond = markers.length - fitting.length
  const lines = [
    cut(`TITLE: ${ascii(videoName(video)) ?? video.id}`, MAX_LINE),
    `FCM: ${rate.dropped > 0 ? 'DROP FRAME' : 'NON-DROP FRAME'}`,
    // Above the events, because Resolve adds a comment below one to its notes.
    ...(beyond > 0 ? [`* LEFT OUT: ${beyond} AFTER THE LAST HOUR OF TIMECODE`] : []),
    '',
    ...events,
  ]
  return lines.map(line => `${line}\r\n`).join('')
}

function markerLine(name: string): string {
  const [before, after] = [' |C:ResolveColorBlue |M:', ' |D:1']
  return before + cut(name.replaceAll('|', '/'), MAX_LINE - before.length - after.length) + after
}

/** Letters lose their accents; undefined if nothing legible remains. */
function ascii(text: string): string | undefined {
  const plain = text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^\x20-\x7e]/gu, '?')
    .trim()
  return /[A-Za-z0-9]/.test(plain) ? plain : undefined
}

function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 3)}...`
}
