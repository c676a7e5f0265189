/** Gives the parts of a broadcast to its recording. Those that come before that is open wait in memory. */
import type { PartReceiver } from '../hls/packager.ts'
import { type RecordedPart, type Recording, sumBytes } from './recording.ts'

/** More than this is dropped: the disk does not answer. */
const MAX_EARLY_BYTES = 32 * 1024 * 1024

interface EarlyPart {
  readonly part: RecordedPart
  readonly position: number
  endsSegment: boolean
}

export class RecordingReceiver implements PartReceiver {
  readonly #positionNow: () => number
  #recording: Recording | undefined
  #early: EarlyPart[] = []
  #earlyBytes = 0

  /** @param positionNow the position in the stream, in milliseconds */
  constructor(positionNow: () => number) {
    this.#positionNow = positionNow
  }

  get recording(): Recording | undefined {
    return this.#recording
  }

  /** The recording is open. */
  begin(recording: Recording): void {
    this.#recording = recording
    for (const { part, position, endsSegment } of this.#early) {
      recording.write(part, position)
      if (endsSegment) recording.endSegment()
    }
    this.#early = []
  }

  part(part: RecordedPart): void {
    const position = this.#positionNow()
    if (this.#recording !== undefined) {
      this.#recording.write(part, position)
      return
    }
    const bytes = sumBytes(part.pieces)
    if (this.#earlyBytes + bytes > MAX_EARLY_BYTES) return
    this.#early.push({ part, position, endsSegment: false })
    this.#earlyBytes += bytes
  }

  segmentEnded(): void {
    const last = this.#early.at(-1)
    if (this.#recording !== undefined) this.#recording.endSegment()
    else if (last !== undefined) last.endsSegment = true
  }
}
