/** Playlists of HLS (RFC 8216bis) as text, from descriptions. */

/** What a variant consists of. Unknown fields are left out; the bandwidth must be there. */
export interface Variant {
  readonly uri: string
  readonly bitsPerSecond: number
  readonly codecs?: readonly string[]
  readonly width?: number | undefined
  readonly height?: number | undefined
  readonly framesPerSecond?: number | undefined
}

export function multivariantPlaylist({ uri, bitsPerSecond, codecs = [], ...more }: Variant): string {
  const { width, height, framesPerSecond } = more
  const attributes = [
    `BANDWIDTH=${Math.max(1, Math.ceil(bitsPerSecond))}`,
    ...(codecs.length === 0 ? [] : [`CODECS="${codecs.join(',')}"`]),
    ...(width === undefined || height === undefined ? [] : [`RESOLUTION=${width}x${height}`]),
    ...(framesPerSecond === undefined ? [] : [`FRAME-RATE=${framesPerSecond.toFixed(3)}`]),
  ]
  return lines('#EXTM3U', '#EXT-X-VERSION:9', `#EXT-X-STREAM-INF:${attributes.join(',')}`, uri)
}

interface ListedPart {
  readonly seconds: number
  readonly isIndependent: boolean
}

export interface ListedSegment {
  readonly sequence: number
  /** Undefined: it is not complete. */
  readonly seconds: number | undefined
  readonly init: number
  readonly isDiscontinuous: boolean
  /** Milliseconds since 1970, of its start. */
  readonly startsAt: number
  /** Empty if they are no longer listed. */
  readonly parts: readonly ListedPart[]
}

export interface MediaPlaylist {
  readonly targetSeconds: number
  readonly partSeconds: number
  /** Discontinuities before the first segment. */
  readonly discontinuitySequence: number
  readonly segments: readonly ListedSegment[]
  readonly hasEnded: boolean
}

/** Parts behind which a player stays, so that it never waits for one. */
const PARTS_HELD_BACK = 3

/** A live window. URIs are relative to that of the playlist. */
export function mediaPlaylist(playlist: MediaPlaylist): string {
  const { targetSeconds, partSeconds, discontinuitySequence, segments, hasEnded } = playlist
  const [first] = segments
  let init: number | undefined
  return lines(
    '#EXTM3U',
    '#EXT-X-VERSION:9',
    `#EXT-X-TARGETDURATION:${targetSeconds}`,
    `#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK=${decimal(PARTS_HELD_BACK * partSeconds)}`,
    `#EXT-X-PART-INF:PART-TARGET=${decimal(partSeconds)}`,
    `#EXT-X-MEDIA-SEQUENCE:${first?.sequence ?? 0}`,
    ...(discontinuitySequence === 0 ? [] : [`#EXT-X-DISCONTINUITY-SEQUENCE:${discontinuitySequence}`]),
    ...segments.flatMap((segment, index) => {
      // That of the first segment is counted in the discontinuity sequence.
      const isChange = segment.isDiscontinuous && index > 0
      const map = segment.init === init && !isChange ? [] : [`#EXT-X-MAP:URI="${initName(segment.init)}"`]
      init = segment.init
      return [...(isChange ? ['#EXT-X-DISCONTINUITY'] : []), ...map, ...segmentLines(segment)]
    }),
    ...(hasEnded ? ['#EXT-X-ENDLIST'] : hintLines(segments.at(-1))),
  )
}

const initName = (init: number): string => `init-${init}.mp4`
const segmentName = (sequence: number): string => `${sequence}.m4s`
export const partName = (sequence: number, part: number): string => `${sequence}.${part}.m4s`

function segmentLines({ sequence, seconds, startsAt, parts }: ListedSegment): string[] {
  return [
    `#EXT-X-PROGRAM-DATE-TIME:${new Date(startsAt).toISOString()}`,
    ...parts.map(
      (part, index) =>
        `#EXT-X-PART:DURATION=${decimal(part.seconds)},URI="${partName(sequence, index)}"${part.isIndependent ? ',INDEPENDENT=YES' : ''}`,
    ),
    ...(seconds === undefined ? [] : [`#EXTINF:${decimal(seconds)},`, segmentName(sequence)]),
  ]
}

/** The part that comes next: the following one of a segment that is not complete, or the first of the next. */
function hintLines(last: ListedSegment | undefined): string[] {
  if (last === undefined) return []
  const name =
    last.seconds === undefined ? partName(last.sequence, last.parts.length) : partName(last.sequence + 1, 0)
  return [`#EXT-X-PRELOAD-HINT:TYPE=PART,URI="${name}"`]
}

/** At least one digit behind the point, and no more than needed. */
const decimal = (seconds: number) => {
  const text = seconds.toFixed(5).replace(/0+$/, '')
  return text.endsWith('.') ? `${text}0` : text
}

const lines = (...all: readonly string[]) => `${all.join('\n')}\n`
