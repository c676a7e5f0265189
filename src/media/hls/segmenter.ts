/**
 * Cuts one stretch of a broadcast into parts and segments: packets in, fragments of MP4 out. In a stretch the tracks stay the
 * same and time goes forward; where that ends, `push` asks for a break, and the packager continues with another stretch.
 *
 * A sample is complete when the next one of its track has arrived, because only then its duration is known. One track leads:
 * video, or audio if there is no video, or if video has been silent for a second. With each sample of the leading track
 * `CutPlanner` decides whether a part or a segment ends where that sample begins. The cut is made when the other track has
 * come as far, or after `MAX_LAG` without it.
 *
 *     packet --> sample waits for its duration --> queue of its track --cut--> fragment --> part
 *
 * What must hold:
 * - A stretch with video starts with a picture that needs no other; what comes before it is dropped.
 * - The decode time of video is that of RTMP, and of audio too, within a millisecond.
 * - Decode times of a track grow. The segments of a stretch contain every sample of it exactly once.
 * - No message costs more than its bytes, and what waits to be cut is bounded.
 */
import { isStartOfDecoding, type TrackConfig } from '../codec-config.ts'
import type { Packet } from '../packet.ts'
import { type Cadence, type Cut, CutPlanner, SECOND } from './cut-planner.ts'
import { fragmentPieces, type Sample, timescale } from './fmp4.ts'

/** Of a millisecond. */
const TICKS = SECOND / 1000
/** A cut does not wait longer for the track that is behind. */
const MAX_LAG = 0.3 * SECOND
/** A step of more than this is a jump, and a track without a sample for so long does not lead. */
const JUMP_MILLISECONDS = 1000
/** Encoders are that inexact about the time of sound. */
const STEP_BACK_MILLISECONDS = 100
const FIRST_DURATION = SECOND / 30
/** A part is cut when it has this much, so that no timestamps can make it grow. */
const MAX_PART_SAMPLES = 4096
const MAX_PART_BYTES = 6 * 1024 * 1024

export interface CutPart {
  /** A fragment of MP4, as its bytes in order. */
  readonly pieces: readonly Uint8Array[]
  readonly seconds: number
  readonly isIndependent: boolean
  /** Milliseconds since the stretch began. */
  readonly position: number
}

export interface SegmenterEvents {
  part(part: CutPart): void
  /** The parts since the last call are a segment. */
  segmentEnded(): void
}

interface TimedSample extends Omit<Sample, 'duration'> {
  readonly decodeTime: number
}

interface Track {
  readonly id: number
  readonly config: TrackConfig
  readonly scale: number
  /** Samples whose duration is known. */
  queue: (TimedSample & Sample)[]
  /** The last sample. */
  pending: TimedSample | undefined
  /** The decode time of the last sample, and its timestamp in milliseconds; undefined before the first. */
  lastTime: number | undefined
  milliseconds: number
  lastDuration: number
}

export class Segmenter {
  readonly tracks: readonly TrackConfig[]
  /** The timestamp that it began with. */
  firstTimestamp = 0
  readonly #events: SegmenterEvents
  readonly #cadence: Cadence
  readonly #video: Track | undefined
  readonly #audio: Track | undefined
  #timestamp = 0
  #milliseconds = 0
  #latest = 0
  /** Undefined before the stretch has begun. */
  #planner: CutPlanner | undefined
  #beganAt = 0
  /** Where the part that is cut next begins. */
  #cutAt = 0
  #samples = 0
  #bytes = 0

  constructor(tracks: readonly TrackConfig[], cadence: Cadence, events: SegmenterEvents) {
    this.tracks = tracks
    this.#cadence = cadence
    this.#events = events
    const create = (kind: TrackConfig['kind']): Track | undefined => {
      const index = tracks.findIndex(track => track.kind === kind)
      const config = tracks[index]
      if (config === undefined) return undefined
      const lastDuration = config.samplesPerFrame ?? FIRST_DURATION
      const scale = timescale(config)
      const times = { lastTime: undefined, milliseconds: 0, lastDuration }
      return { id: index + 1, config, scale, queue: [], pending: undefined, ...times }
    }
    this.#video = create('video')
    this.#audio = create('audio')
  }

  /** Bytes that wait to be cut. */
  get bytes(): number {
    return this.#bytes
  }

  /** `break`: the packet does not continue this stretch, and was not taken. */
  push(packet: Packet): 'taken' | 'dropped' | 'break' {
    const track = packet.kind === 'video' ? this.#video : this.#audio
    if (track === undefined) return 'dropped'
    const isKey = packet.kind === 'audio' || isStartOfDecoding(track.config, packet)
    if (this.#planner === undefined) {
      if (track !== (this.#video ?? this.#audio) || !isKey) return 'dropped'
      this.#begin(packet.timestamp)
    }
    const milliseconds = this.#milliseconds + ((packet.timestamp - this.#timestamp) | 0)
    if (this.#isBreak(track, milliseconds)) return 'break'
    this.#timestamp = packet.timestamp
    this.#milliseconds = milliseconds
    this.#latest = Math.max(this.#latest, milliseconds)
    this.#take(track, Math.max(0, milliseconds), isKey, packet)
    this.#cutReady()
    return 'taken'
  }

  /** Cuts everything: the stretch has ended. */
  flush(): void {
    const planner = this.#planner
    if (planner === undefined) return
    const leading = this.#video?.pending === undefined ? this.#audio : this.#video
    let end = planner.leadAt
    for (const track of [this.#video, this.#audio]) {
      if (track?.lastTime === undefined) continue
      const endTime = track.lastTime + track.lastDuration
      this.#complete(track, endTime)
      if (track === leading) end = Math.max(end, toTicks(track, endTime))
    }
    const cuts = planner.finish(end)
    for (const [index, cut] of cuts.entries())
      this.#cut(cut, index === cuts.length - 1 ? Number.POSITIVE_INFINITY : cut.at)
    this.#planner = undefined
  }

  #begin(timestamp: number): void {
    this.firstTimestamp = timestamp
    this.#timestamp = timestamp
    this.#milliseconds = timestamp
    this.#latest = timestamp
    this.#beganAt = timestamp * TICKS
    this.#cutAt = this.#beganAt
    const hasVideo = this.#video !== undefined
    const hasBoth = hasVideo && this.#audio !== undefined
    this.#planner = new CutPlanner(this.#cadence, { hasVideo, hasBoth }, this.#beganAt)
  }

  #isBreak(track: Track, milliseconds: number): boolean {
    if (milliseconds > this.#latest + JUMP_MILLISECONDS) return true
    if (track.lastTime === undefined) return milliseconds < this.#latest - JUMP_MILLISECONDS
    const tolerated = track === this.#video ? 0 : STEP_BACK_MILLISECONDS
    return milliseconds < track.milliseconds - tolerated
  }

  #take(track: Track, milliseconds: number, isKey: boolean, { compositionOffset, data }: Packet): void {
    const decodeTime = nextDecodeTime(track, milliseconds)
    this.#complete(track, decodeTime)
    track.pending = { decodeTime, compositionOffset: compositionOffset * TICKS, isKey, data }
    track.lastTime = decodeTime
    track.milliseconds = track === this.#video ? milliseconds : (decodeTime / track.scale) * 1000
    this.#samples += 1
    this.#bytes += data.length
    const at = toTicks(track, decodeTime)
    if (this.#leads(track, at)) this.#planner?.lead(at, isKey && track === this.#video, this.#isFull)
  }

  #leads(track: Track, at: number): boolean {
    const video = this.#video
    if (track === video || video === undefined) return true
    const videoAt = video.pending && toTicks(video, video.pending.decodeTime)
    if (videoAt !== undefined && at - videoAt <= JUMP_MILLISECONDS * TICKS) return false
    // The picture has stopped. Sound continues, and the last picture must not wait for the next.
    this.#complete(video, (video.lastTime ?? 0) + video.lastDuration)
    return true
  }

  /** Gives the last sample of a track its duration. */
  #complete(track: Track, nextDecodeTime: number): void {
    const { pending } = track
    if (pending === undefined) return
    const duration = nextDecodeTime - pending.decodeTime
    track.queue.push({ ...pending, duration })
    track.pending = undefined
    track.lastDuration = duration
  }

  get #isFull(): boolean {
    return this.#samples > MAX_PART_SAMPLES || this.#bytes > MAX_PART_BYTES
  }

  #cutReady(): void {
    for (;;) {
      const cut = this.#planner?.next
      if (cut === undefined || !this.#isReady(cut.at)) return
      this.#planner?.shift()
      this.#cut(cut, cut.at)
    }
  }

  #isReady(at: number): boolean {
    if (this.#isFull || (this.#planner?.leadAt ?? at) - at >= MAX_LAG) return true
    return [this.#video, this.#audio].every(
      track =>
        track === undefined ||
        (track.pending !== undefined && toTicks(track, track.pending.decodeTime) >= at),
    )
  }

  /** @param upTo samples that begin before this are part of it */
  #cut({ at, endsSegment }: Cut, upTo: number): void {
    const runs = [this.#video, this.#audio].flatMap(track => {
      if (track === undefined) return []
      const samples = this.#takeSamples(track, upTo)
      const [first] = samples
      if (first === undefined) return []
      return [{ trackId: track.id, kind: track.config.kind, baseDecodeTime: first.decodeTime, samples }]
    })
    const [first] = runs
    // A part without samples would be none: its time belongs to the next one.
    if (first !== undefined && at > this.#cutAt) {
      this.#cadence.fragments += 1
      this.#events.part({
        pieces: fragmentPieces(this.#cadence.fragments, runs),
        seconds: (at - this.#cutAt) / SECOND,
        isIndependent:
          this.#video === undefined || (first.kind === 'video' && first.samples[0]?.isKey === true),
        position: (this.#cutAt - this.#beganAt) / TICKS,
      })
      this.#cutAt = at
    }
    if (endsSegment) this.#events.segmentEnded()
  }

  #takeSamples(track: Track, at: number): (TimedSample & Sample)[] {
    const { queue } = track
    let count = 0
    for (const { decodeTime, data } of queue) {
      if (toTicks(track, decodeTime) >= at) break
      count += 1
      this.#bytes -= data.length
    }
    this.#samples -= count
    track.queue = queue.slice(count)
    return count === queue.length ? queue : queue.slice(0, count)
  }
}

const toTicks = ({ scale }: Track, decodeTime: number): number => (decodeTime * SECOND) / scale

/**
 * Milliseconds are exact for video. Frames of audio follow each other without gaps, whose times in milliseconds are rounded:
 * a frame continues the one before unless its timestamp differs by more than that.
 */
function nextDecodeTime({ config, scale, lastTime }: Track, milliseconds: number): number {
  const exact = Math.round((milliseconds * scale) / 1000)
  if (lastTime === undefined) return exact
  const { samplesPerFrame } = config
  if (samplesPerFrame === undefined) return Math.max(exact, lastTime + 1)
  const following = lastTime + samplesPerFrame
  const isRounding = Math.abs(exact - following) <= scale / 1000 + 1
  return isRounding || exact < lastTime + samplesPerFrame / 2 ? following : exact
}
