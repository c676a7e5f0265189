/**
 * The clock of a recording: where parts lie in the stream. A stretch is what a publisher sends without an interruption; its
 * timestamps are moved by the same time. It begins at the position by the clock of the stream, but after all that was recorded
 * before, so that in each track decode times never go back.
 */
import type { TrackConfig } from '../codec-config.ts'
import { initSegment, VIDEO_TIMESCALE } from '../hls/fmp4.ts'
import { type FragmentRun, type InitTrack, readInit } from './mp4-reader.ts'

/** Further behind the clock of the stream, the clock was set, or the encoder counts another time. */
const DRIFT_MILLISECONDS = 30_000
/** Encoders are that inexact about the time of sound: less than the length of a frame. */
const OVERLAP_MILLISECONDS = 15
const TICKS = VIDEO_TIMESCALE / 1000

interface ClockedPart {
  readonly tracks: readonly TrackConfig[]
  /** The same for all parts whose timestamps continue each other. */
  readonly stretch: object
}

interface Stretch {
  readonly id: object
  readonly tracks: readonly InitTrack[]
  /** Added to its decode times, by track. */
  readonly shifts: ReadonlyMap<number, number>
  /** Added to its times, in milliseconds. */
  readonly milliseconds: number
}

export class RecordingClock {
  /** What was written last. */
  stretch: Stretch | undefined
  /** Where each kind of track ends, in ticks. */
  readonly #ends = { video: 0, audio: 0 }

  get milliseconds(): number {
    const { video, audio } = this.#ends
    return Math.round(Math.max(video, audio) / TICKS)
  }

  /** @param clock the position in the stream at which the part began, in milliseconds */
  isNewStretch({ stretch }: ClockedPart, runs: readonly FragmentRun[], clock: number): boolean {
    const known = this.stretch
    if (known === undefined || known.id !== stretch) return true
    const at = runStart(runs, known.tracks)
    return at === undefined || clock - at - known.milliseconds > DRIFT_MILLISECONDS
  }

  beginStretch(part: ClockedPart, runs: readonly FragmentRun[], clock: number): Stretch | undefined {
    const tracks = readInit(Buffer.from(initSegment(part.tracks)))
    const at = tracks && runStart(runs, tracks)
    if (tracks === undefined || at === undefined) return undefined
    const wasSame = this.stretch?.id === part.stretch ? this.stretch.milliseconds : undefined
    const isDrifting = wasSame === undefined || clock - at - wasSame > DRIFT_MILLISECONDS
    const wanted = isDrifting ? Math.max(0, Math.round(clock)) - at : wasSame
    const least = runs.map(run => {
      const isAudio = tracks.some(({ id, kind }) => id === run.trackId && kind === 'audio')
      const end = isAudio ? this.#ends.audio / TICKS - OVERLAP_MILLISECONDS : this.#ends.video / TICKS
      return end - (runStart([run], tracks) ?? at)
    })
    const milliseconds = Math.ceil(Math.max(wanted, ...least))
    const shifts = new Map(tracks.map(({ id, scale }) => [id, Math.round((milliseconds * scale) / 1000)]))
    return { id: part.stretch, tracks, shifts, milliseconds }
  }

  noteEnds(runs: readonly FragmentRun[], tracks: readonly InitTrack[]): void {
    for (const { trackId, baseDecodeTime, samples } of runs) {
      const track = tracks.find(({ id }) => id === trackId)
      if (track === undefined) continue
      const end = samples.reduce((time, { duration }) => time + duration, baseDecodeTime)
      this.#ends[track.kind] = Math.max(this.#ends[track.kind], (end * VIDEO_TIMESCALE) / track.scale)
    }
  }
}

/** In milliseconds. */
function runStart([first]: readonly FragmentRun[], tracks: readonly InitTrack[]): number | undefined {
  const track = tracks.find(({ id }) => id === first?.trackId)
  return first && track && (first.baseDecodeTime * 1000) / track.scale
}
