/**
 * The playlist of a recording: entries of about ten seconds, each a range of whole fragments of its file (D-254). The text grows
 * at its end only, and depends on the fragments alone, so that the same file gives the same text after a restart.
 *
 * An init segment in the file begins another stretch: a discontinuity. The time that passed meanwhile is listed as a gap, so that
 * positions in the playlist are those in the stream. Readers that do not know gaps read an init segment there.
 */
import { VIDEO_TIMESCALE } from '../hls/fmp4.ts'

const TARGET_SECONDS = 10
/** Durations are compared with the target after rounding (RFC 8216, 4.3.3.1). */
const MAX_TICKS = (TARGET_SECONDS + 0.49) * VIDEO_TIMESCALE
/** Less is the inexactness of timestamps. */
const MIN_GAP_TICKS = VIDEO_TIMESCALE / 20
/** A day. A longer gap is cut off. */
const MAX_GAPS = 8640

/** Positions in the file are in bytes, in time in ticks. */
export interface PlaylistFragment {
  readonly at: number
  readonly size: number
  readonly from: number
  readonly to: number
  readonly isIndependent: boolean
}

interface Entry {
  readonly at: number
  size: number
  readonly from: number
  to: number
}

export class RecordingPlaylist {
  readonly #uri: string
  readonly #lines: string[] = []
  #text = ''
  #init: { readonly at: number; readonly size: number } | undefined
  /** The init segment has not been listed. */
  #isNew = false
  #entry: Entry | undefined
  #groupAt = 0
  #lastGroup = 0
  /** Where the last entry ends. */
  #endsAt = 0
  #hasEntries = false

  /** @param uri of the file */
  constructor(uri: string) {
    this.#uri = uri
  }

  addInit(at: number, size: number): void {
    this.#endEntry()
    this.#init = { at, size }
    this.#isNew = true
  }

  add(fragment: PlaylistFragment): void {
    const { at, size, from, to, isIndependent } = fragment
    if (this.#entry !== undefined) {
      // What follows belongs to it until it begins.
      this.#entry.to = Math.max(from, this.#entry.from)
      if (isIndependent) {
        this.#lastGroup = from - this.#groupAt
        this.#groupAt = from
      }
      const length = from - this.#entry.from
      const next = isIndependent ? this.#lastGroup : to - from
      if (length + next > MAX_TICKS) this.#endEntry()
    } else this.#groupAt = from
    this.#entry ??= { at, size: 0, from, to }
    this.#entry.size = at + size - this.#entry.at
    this.#entry.to = Math.max(to, this.#entry.from)
  }

  /** What follows has another init segment. */
  endStretch(): void {
    this.#endEntry()
  }

  /** What is complete, while the recording grows; undefined before the first entry. */
  get growing(): string | undefined {
    return this.#hasEntries ? this.#write('EVENT', []) : undefined
  }

  /** All of it. Nothing may be added afterwards. */
  finish(): string {
    this.#endEntry()
    return this.#write('VOD', ['#EXT-X-ENDLIST'])
  }

  #write(type: 'EVENT' | 'VOD', end: readonly string[]): string {
    this.#text += this.#lines.map(line => `${line}\n`).join('')
    this.#lines.length = 0
    const start = [
      '#EXTM3U',
      '#EXT-X-VERSION:8',
      `#EXT-X-TARGETDURATION:${TARGET_SECONDS}`,
      '#EXT-X-MEDIA-SEQUENCE:0',
      `#EXT-X-PLAYLIST-TYPE:${type}`,
    ]
    return `${start.join('\n')}\n${this.#text}${end.map(line => `${line}\n`).join('')}`
  }

  #endEntry(): void {
    const entry = this.#entry
    if (entry === undefined || this.#init === undefined) return
    this.#entry = undefined
    if (this.#isNew) this.#listInit(this.#init, entry)
    this.#list(entry.to - entry.from, entry)
    this.#endsAt = entry.to
  }

  #listInit(init: { readonly at: number; readonly size: number }, { from }: Entry): void {
    const map = `#EXT-X-MAP:URI="${this.#uri}",BYTERANGE="${init.size}@${init.at}"`
    this.#isNew = false
    const gap = from - this.#endsAt
    const gaps =
      gap < MIN_GAP_TICKS ? 0 : Math.min(Math.ceil(gap / (TARGET_SECONDS * VIDEO_TIMESCALE)), MAX_GAPS)
    if (this.#hasEntries) this.#lines.push('#EXT-X-DISCONTINUITY')
    this.#lines.push(map)
    for (let count = 0; count < gaps; count++) {
      this.#lines.push('#EXT-X-GAP')
      this.#list(Math.min(gap / gaps, TARGET_SECONDS * VIDEO_TIMESCALE), init)
    }
  }

  #list(ticks: number, { at, size }: { readonly at: number; readonly size: number }): void {
    const seconds = (ticks / VIDEO_TIMESCALE).toFixed(5)
    this.#lines.push(`#EXTINF:${seconds},`, `#EXT-X-BYTERANGE:${size}@${at}`, this.#uri)
    this.#hasEntries = true
  }
}
