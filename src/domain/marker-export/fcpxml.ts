import type { FrameRateName } from '../../contract/resources/marker-file.ts'
import { FRAME_RATES, type FrameRate, frameAt } from './frame-rate.ts'
import { type MarkerExport, timelineSeconds } from './marked-video.ts'
import { markerName, oneLine, videoName } from './text.ts'

/** The formats that Final Cut Pro knows by name. */
const FORMATS: Readonly<Record<FrameRateName, string>> = {
  '23.976': 'FFVideoFormat1080p2398',
  '24': 'FFVideoFormat1080p24',
  '25': 'FFVideoFormat1080p25',
  '29.97': 'FFVideoFormat1080p2997',
  '30': 'FFVideoFormat1080p30',
  '50': 'FFVideoFormat1080p50',
  '59.94': 'FFVideoFormat1080p5994',
  '60': 'FFVideoFormat1080p60',
}

/** FCPXML 1.9: a project with a gap as long as the video, which carries the markers. Times are whole frames. */
export function writeFcpxml(given: MarkerExport): string {
  const { video, markers, fps } = given
  const rate = FRAME_RATES[fps]
  const format = `name="${FORMATS[fps]}" frameDuration="${formatTime(1, rate)}" width="1920" height="1080"`
  const duration = formatTime(Math.max(1, frameAt(timelineSeconds(given), rate)), rate)
  const lines = [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<!DOCTYPE fcpxml>',
    '<fcpxml version="1.9">',
    `  <resources><format id="r1" ${format}/></resources>`,
    `  <library><event name="${escaped(oneLine(video.user_name))}"><project name="${escaped(videoName(video))}">`,
    `    <sequence format="r1" duration="${duration}" tcStart="0s" tcFormat="${rate.dropped > 0 ? 'DF' : 'NDF'}"><spine>`,
    `      <gap name="Gap" offset="0s" start="0s" duration="${duration}">`,
    ...markers.map((marker, index) => {
      const start = formatTime(frameAt(marker.position_seconds, rate), rate)
      const name = escaped(markerName(marker, index))
      return `        <marker start="${start}" duration="${formatTime(1, rate)}" value="${name}" note="${marker.created_at}"/>`
    }),
    '      </gap>',
    '    </spine></sequence>',
    '  </project></event></library>',
    '</fcpxml>',
  ]
  return `${lines.join('\n')}\n`
}

/** Frames as a fraction of seconds: `7320/30s`. */
function formatTime(frames: number, { numerator, denominator }: FrameRate): string {
  return frames === 0 ? '0s' : `${frames * denominator}/${numerator}s`
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, character => ENTITIES[character] ?? '')
}
