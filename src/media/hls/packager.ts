/**
 * Packages one broadcast as HLS, once for all who watch it: packets come in, and a window of segments is kept in memory.
 *
 *                 no request for 60 s, at a key frame
 *            .------------------------------------------.
 *            v                                          |
 *     idle: packets since the last key frame --asked--> packaging: segmenter --> window --end--> ended
 *
 * - Idle, a broadcast costs the memory of one group of pictures. The first reader gets a window that begins with that group
 *   (D-257). A group of more than 8 MiB is not kept, and the window begins with the next one.
 * - The window has the last segments. Those that have left the playlist stay for a while, for players that are behind. It is
 *   bounded in bytes: beyond that it has fewer segments, but never less than three target durations (`window.ts`).
 * - Codecs, size or sample rate change, or timestamps jump: the stretch ends, and the next segment has a discontinuity
 *   (D-256). The next stretch begins with a key frame. A publisher may do this a few times at once, and twice a second in
 *   the long run; what it sends before that is ignored.
 * - Readers wait for what comes next (`readers.ts`). A message wakes them later, some at a time, so that the cost of a message
 *   does not depend on how many watch.
 *
 * What must hold:
 * - Nothing is assembled for one reader: a playlist, an init segment, a segment and a part exist once, as the `Blob` that all
 *   responses send from.
 * - A sequence number is used once, and its bytes never change.
 */
import { type BucketSize, refill, type TokenBucket } from '../../kit/queues/token-buckets.ts'
import { isStartOfDecoding, type TrackConfig } from '../codec-config.ts'
import type { MediaMemory } from '../media-memory.ts'
import type { Packet } from '../packet.ts'
import type { RecordedPart } from '../recording/recording.ts'
import { sameTracks, Tracks } from '../tracks.ts'
import type { Cadence } from './cut-planner.ts'
import { fragment, initSegment } from './fmp4.ts'
import { KeptGroup } from './kept-group.ts'
import { partName, type Variant } from './playlist.ts'
import { type Reader, Readers, type Unanswered } from './readers.ts'
import { Segmenter } from './segmenter.ts'
import { type PlaylistRequest, SegmentWindow } from './window.ts'

const NEEDED_MILLISECONDS = 60_000
/** A broadcast whose other track has not appeared by then is without it. */
const DECIDED_MILLISECONDS = 1000
/** Breaks that are followed at once. Each makes a segment, so a publisher that does nothing else has to wait. */
const BREAKS: BucketSize = { capacity: 8, fullAfterSeconds: 4 }
/** How long a reader waits for the first segment. */
const START_MILLISECONDS = 6000
/** How many target durations a reader waits for a part. */
const PATIENCE = 3
/** Segments that may be asked for before they exist. */
const MAX_AHEAD = 2
const PART_SECONDS = 0.5

export interface PackagerOptions {
  readonly memory: MediaMemory
  /** The broadcast does not fit into the memory of a channel. */
  readonly onTooLarge: () => void
  /** Milliseconds on a clock that never goes back. */
  readonly now?: () => number
}

/** Gets every part while it is attached, and keeps the broadcast packaged. */
export interface PartReceiver {
  part(part: RecordedPart): void
  segmentEnded(): void
}

export class Packager {
  readonly #options: PackagerOptions
  readonly #now: () => number
  readonly #readers = new Readers()
  readonly #window: SegmentWindow
  readonly #cadence: Cadence = { targetSeconds: undefined, partSeconds: undefined, fragments: 0 }
  readonly #tracks = new Tracks()
  readonly #group: KeptGroup
  #keyFrame: Packet | undefined
  /** Whether it is known which tracks there are. */
  #isDecided = false
  #firstTimestamp: number | undefined
  #timestamp = 0
  #bytes = 0
  #pictures = 0
  #isPackaging = false
  #askedAt = Number.NEGATIVE_INFINITY
  #segmenter: Segmenter | undefined
  #initTracks: readonly TrackConfig[] = []
  readonly #breaks: TokenBucket
  #text: Blob | undefined
  #receiver: PartReceiver | undefined
  hasEnded = false

  constructor(options: PackagerOptions) {
    this.#options = options
    this.#now = options.now ?? (() => performance.now())
    this.#breaks = { points: BREAKS.capacity, at: this.#now() }
    this.#window = new SegmentWindow(options.memory)
    this.#group = new KeptGroup(options.memory)
  }

  publish(packet: Packet): void {
    if (this.hasEnded) return
    this.#bytes += packet.data.length
    if (packet.role === 'config') {
      this.#tracks.keepConfig(packet)
      return
    }
    const track = this.#tracks.read(packet)
    if (track === 'changed') this.#dropGroup(packet.kind)
    if (track !== 'unknown') this.#receive(packet)
  }

  /** The publisher has disconnected. What is in the window can be read until `close`. */
  end(): void {
    if (this.hasEnded) return
    this.#segmenter?.flush()
    this.#segmenter = undefined
    this.#group.drop()
    this.#keyFrame = undefined
    this.hasEnded = true
    this.#changed()
  }

  close(): void {
    this.end()
    this.#window.clear()
  }

  /** Begins with the last key frame, if the broadcast was not packaged. */
  attach(receiver: PartReceiver): void {
    this.#receiver = receiver
    this.#begin()
  }

  /** Removes what need not be kept. */
  trim(): void {
    const { targetSeconds = 0 } = this.#cadence
    const isFitting = this.#window.trim(targetSeconds, this.#segmenter?.bytes ?? 0, this.#now())
    this.#text = undefined
    if (!isFitting && !this.hasEnded) this.#options.onTooLarge()
  }

  /** The codecs of its tracks, as players know them. */
  get codecs(): string[] {
    return this.#tracks.list.map(({ codecString }) => codecString)
  }

  /** What the broadcast consists of. */
  async variant(reader: Reader): Promise<Omit<Variant, 'uri'> | Unanswered> {
    this.#ask()
    const isKnown = () => this.#isDecided || this.hasEnded
    const outcome = await this.#wait(reader, isKnown, START_MILLISECONDS)
    if (outcome !== 'ready') return outcome === 'late' ? 'not live' : outcome
    if (this.hasEnded) return 'not live'
    const milliseconds = (this.#timestamp - (this.#firstTimestamp ?? 0)) | 0
    const seconds = Math.max(milliseconds, DECIDED_MILLISECONDS) / 1000
    const { width, height } = this.#tracks.video ?? {}
    return {
      bitsPerSecond: Math.max(this.#window.bitsPerSecond, (this.#bytes * 8) / seconds),
      ...{ codecs: this.codecs, width, height },
      framesPerSecond:
        this.#pictures > 0 && milliseconds >= DECIDED_MILLISECONDS ? this.#pictures / seconds : undefined,
    }
  }

  /** The media playlist, as soon as it has what is asked for. */
  async playlist(reader: Reader, asked?: PlaylistRequest): Promise<Blob | Unanswered> {
    this.#ask()
    const hasStarted = () => this.#window.last !== undefined || this.hasEnded
    const start = await this.#wait(reader, hasStarted, START_MILLISECONDS)
    if (start !== 'ready') return start === 'late' ? 'not live' : start
    const { last } = this.#window
    if (last === undefined) return 'not live'
    if (asked === undefined || this.hasEnded) return this.#playlist()
    if (asked.sequence > last.sequence + MAX_AHEAD) return 'too far'
    const isListed = () => this.hasEnded || this.#window.has(asked)
    const outcome = await this.#wait(reader, isListed, this.#patience)
    return outcome === 'ready' ? this.#playlist() : outcome
  }

  init(index: number): Blob | undefined {
    return this.#window.init(index)
  }

  segment(sequence: number): Blob | undefined {
    this.#ask()
    return this.#window.segment(sequence)
  }

  /** Whether a segment is in memory, complete or not. */
  has(sequence: number): boolean {
    return this.#window.keeps(sequence)
  }

  /** A part, or the one that comes next as soon as it is there. */
  async part(sequence: number, index: number, reader: Reader): Promise<Blob | Unanswered> {
    this.#ask()
    const name = partName(sequence, index)
    const isNext = () => this.#window.nextPart === name && !this.hasEnded
    if (isNext()) {
      const outcome = await this.#wait(reader, () => !isNext(), this.#patience)
      if (outcome !== 'ready') return outcome
    }
    return this.#window.part(sequence, index) ?? 'not live'
  }

  /** The last key frame as a file. */
  keyFrame(): Uint8Array | undefined {
    const { video } = this.#tracks
    if (this.#keyFrame === undefined || video === undefined) return undefined
    const sample = { data: this.#keyFrame.data, duration: 1, compositionOffset: 0, isKey: true }
    const run = { trackId: 1, kind: 'video', baseDecodeTime: 0, samples: [sample] } as const
    return Buffer.concat([initSegment([video]), fragment(1, [run])])
  }

  get #patience(): number {
    return PATIENCE * (this.#cadence.targetSeconds ?? 0) * 1000
  }

  #wait(reader: Reader, isReady: () => boolean, milliseconds: number) {
    return this.#readers.wait(reader, isReady, this.#now() + milliseconds, this.#now)
  }

  #ask(): void {
    this.#askedAt = this.#now()
    this.#begin()
  }

  get #isNeeded(): boolean {
    const isAskedFor = this.#now() - this.#askedAt < NEEDED_MILLISECONDS || this.#readers.count > 0
    return this.#receiver !== undefined || isAskedFor
  }

  #receive(packet: Packet): void {
    const { kind, timestamp } = packet
    this.#firstTimestamp ??= timestamp
    this.#timestamp = timestamp
    if (kind === 'video') this.#pictures += 1
    const { video } = this.#tracks
    const isKey = video === undefined || (kind === 'video' && isStartOfDecoding(video, packet))
    if (isKey && kind === 'video') this.#keyFrame = packet
    if (isKey && this.#isPackaging && !this.#isNeeded) this.#rest()
    if (this.#isPackaging) this.#package(packet)
    else {
      this.#group.keep(packet, isKey)
      if (this.#isNeeded) this.#begin()
    }
    if (!this.#isDecided) this.#decide()
  }

  #decide(): void {
    const passed = Math.abs((this.#timestamp - (this.#firstTimestamp ?? 0)) | 0)
    if (!this.#tracks.hasBoth && passed < DECIDED_MILLISECONDS) return
    this.#isDecided = true
    if (this.#isNeeded) this.#begin()
    this.#changed()
  }

  /** What was kept needs the former configuration. */
  #dropGroup(changed: Packet['kind']): void {
    this.#group.drop()
    if (changed === 'video') this.#keyFrame = undefined
  }

  #begin(): void {
    if (this.#isPackaging || !this.#isDecided || this.#group.isEmpty) return
    this.#isPackaging = true
    for (const packet of this.#group.take()) this.#package(packet)
  }

  /** There was no request for a while. */
  #rest(): void {
    this.#isPackaging = false
    this.#segmenter = undefined
    this.#initTracks = []
    this.#window.clear()
    this.#text = undefined
  }

  #package(packet: Packet): void {
    const tracks = this.#tracks.list
    if (this.#segmenter !== undefined && !sameTracks(this.#segmenter.tracks, tracks)) this.#break()
    this.#segmenter ??= this.#newStretch(tracks)
    if (this.#segmenter?.push(packet) !== 'break') return
    this.#break()
    this.#segmenter = this.#newStretch(tracks)
    this.#segmenter?.push(packet)
  }

  #break(): void {
    this.#segmenter?.flush()
    this.#segmenter = undefined
    this.#window.discontinue()
    this.#breaks.points -= 1
  }

  /** Undefined: too many have broken. */
  #newStretch(tracks: readonly TrackConfig[]): Segmenter | undefined {
    if (this.#breaks.points < 0) refill(this.#breaks, this.#now(), BREAKS)
    if (this.#breaks.points < 0) return undefined
    let beganAt: number | undefined
    const segmenter = new Segmenter(tracks, this.#cadence, {
      part: part => {
        if (beganAt === undefined) this.#describe(tracks)
        beganAt ??= Date.now() - ((this.#timestamp - segmenter.firstTimestamp) | 0)
        this.#window.addPart(part, beganAt + part.position)
        const behind = Math.max(0, ((this.#timestamp - segmenter.firstTimestamp) | 0) - part.position)
        this.#receiver?.part({ ...part, tracks, stretch: segmenter, behind })
        this.#changed()
      },
      segmentEnded: () => {
        this.#window.endSegment()
        this.#receiver?.segmentEnded()
        this.#changed()
      },
    })
    return segmenter
  }

  /** Adds an init segment, unless the last one is right. */
  #describe(tracks: readonly TrackConfig[]): void {
    if (sameTracks(this.#initTracks, tracks)) return
    this.#window.addInit(initSegment(tracks))
    this.#initTracks = tracks
  }

  #changed(): void {
    this.trim()
    this.#readers.wake()
  }

  #playlist(): Blob {
    const { targetSeconds = 0, partSeconds = PART_SECONDS } = this.#cadence
    this.#text ??= new Blob([this.#window.playlist(targetSeconds, partSeconds, this.hasEnded)])
    return this.#text
  }
}
