/**
 * One playlist for a recording that several nodes have files of (D-261): their entries in the order of the stream. Where the file
 * changes there is a discontinuity. Each playlist lists the time that its node did not receive as a gap; what no node has
 * remains one.
 */

export interface FilePlaylist {
  /** Where readers of the joined playlist find the file. */
  readonly uri: string
  readonly text: string
}

interface Entry {
  readonly uri: string
  /** The range of its init segment. */
  readonly map: string
  readonly range: string
  /** In seconds of the stream. */
  readonly from: number
  readonly to: number
}

const GAP_SECONDS = 10
/** Less is the inexactness of timestamps. */
const MIN_GAP_SECONDS = 0.05
/** A day, of all gaps together. What is missing beyond that is left out. */
const MAX_GAPS = 8640
const TARGET = /^#EXT-X-TARGETDURATION:([0-9]{1,9})$/m
const SECONDS = /^#EXTINF:([0-9]{1,9}(?:\.[0-9]{1,9})?),/

export function joinPlaylists(files: readonly FilePlaylist[], isGrowing: boolean): string {
  const entries = files.flatMap(parseEntries).sort((a, b) => a.from - b.from)
  const targets = files.map(({ text }) => Number(TARGET.exec(text)?.[1] ?? GAP_SECONDS))
  const lines = [
    '#EXTM3U',
    '#EXT-X-VERSION:8',
    `#EXT-X-TARGETDURATION:${Math.max(GAP_SECONDS, ...targets)}`,
    '#EXT-X-MEDIA-SEQUENCE:0',
    `#EXT-X-PLAYLIST-TYPE:${isGrowing ? 'EVENT' : 'VOD'}`,
  ]
  let last: Entry | undefined
  let end = 0
  let gapsLeft = MAX_GAPS
  for (const entry of entries) {
    // Two nodes received this.
    if (last !== undefined && entry.to <= end + MIN_GAP_SECONDS) continue
    const isContinued = last?.uri === entry.uri && last.map === entry.map
    if (!isContinued && last !== undefined) lines.push('#EXT-X-DISCONTINUITY')
    if (!isContinued) lines.push(`#EXT-X-MAP:URI="${entry.uri}",BYTERANGE="${entry.map}"`)
    const gap = Math.min(entry.from - end, gapsLeft * GAP_SECONDS)
    const gaps = gap < MIN_GAP_SECONDS ? 0 : Math.ceil(gap / GAP_SECONDS)
    gapsLeft -= gaps
    for (let count = 0; count < gaps; count++)
      lines.push('#EXT-X-GAP', ...formatEntry(gap / gaps, entry.map, entry.uri))
    lines.push(...formatEntry(entry.to - entry.from, entry.range, entry.uri))
    end = entry.to
    last = entry
  }
  if (!isGrowing) lines.push('#EXT-X-ENDLIST')
  return `${lines.join('\n')}\n`
}

const formatEntry = (seconds: number, range: string, uri: string): string[] => [
  `#EXTINF:${seconds.toFixed(5)},`,
  `#EXT-X-BYTERANGE:${range}`,
  uri,
]

/** What a playlist of one file has, without its gaps. An entry without a time is left out. */
function parseEntries({ uri, text }: FilePlaylist): Entry[] {
  const entries: Entry[] = []
  let position = 0
  let [map, isGap] = ['', false]
  let seconds: number | undefined
  for (const line of text.split('\n')) {
    const range = /^#EXT-X-BYTERANGE:([0-9]+@[0-9]+)$/.exec(line)?.[1]
    if (line === '#EXT-X-GAP') isGap = true
    else if (line.startsWith('#EXTINF:')) seconds = toNumber(SECONDS.exec(line)?.[1])
    else if (line.startsWith('#EXT-X-MAP:')) map = /BYTERANGE="([0-9]+@[0-9]+)"/.exec(line)?.[1] ?? ''
    else if (range !== undefined) {
      if (!isGap && seconds !== undefined)
        entries.push({ uri, map, range, from: position, to: position + seconds })
      position += seconds ?? 0
      isGap = false
    }
  }
  return entries
}

const toNumber = (digits: string | undefined): number | undefined =>
  digits === undefined ? undefined : Number(digits)
