/**
 * A running broadcast: packages what one publisher sends for everyone who watches it.
 *
 * RTMP messages arrive one by one. Viewers get HTTP-FLV: a file header and then tags, without an end. Three things make
 * this more than copying:
 *
 * - A decoder cannot start anywhere. It needs the headers (metadata, codec configuration) and then a key frame. So the
 *   broadcast keeps the latest header of each kind, and all tags since the last key frame: the *group*. A viewer who joins
 *   gets both, and has a picture at once.
 * - Writing to a connection costs more than the bytes. So tags wait up to 20 ms for others and are sent as one *batch*, the
 *   same bytes to all viewers. A header or a key frame starts a new batch, so it can only be the first tag of one.
 * - Viewers are slow at times. A viewer takes a batch completely or not at all. One that could not take a batch would show
 *   broken pictures, so it gets nothing until the next key frame.
 *
 *     publish(message) --> tag --> batch --20 ms, header or key frame--> group, all viewers in step
 *
 * | Viewer | Event | Becomes |
 * |---|---|---|
 * | joins | takes headers and group; or there is no video | in step |
 * | joins | there is video, but no group yet, or the viewer cannot take it | waiting |
 * | in step | takes a batch | in step |
 * | in step | cannot take a batch: counted as a skip | waiting |
 * | waiting | takes a batch that starts with a key frame, after the current headers | in step |
 *
 * What must hold:
 * - A viewer gets the headers and then whole tags, which start at a key frame if there is video.
 * - No viewer delays the publisher or another viewer: `write` never waits.
 * - The group has at most 8 MiB. Beyond that it is dropped, and viewers who join wait for the next key frame.
 */
import { classifyMessage, FLV_HEADER, flvTag, takeFirstTag, VIDEO_HEADER } from './flv.ts'
import type { MediaMessage } from './rtmp/publisher.ts'

/** Maximum bytes since the last key frame that are kept for those who join. */
const MAX_GROUP_BYTES = 8 * 1024 * 1024
/** Tags wait so long for others to be sent with them: sending to every viewer costs more than what is sent. */
export const BATCH_MILLISECONDS = 20

/** The connection of a viewer. */
export interface Viewer {
  /** Takes all of it or nothing. False: nothing now, so the viewer is skipped until the next key frame. */
  write(pieces: readonly Uint8Array[]): boolean
  end(): void
}

/** Where a viewer is: it has the headers and every frame so far, or waits for the next key frame. */
type Position = 'in step' | 'waiting'

/** Counted over all broadcasts. */
export interface BroadcastTotals {
  bytes: number
  skips: number
}

/** Tags that are sent together. Only the first may be a header or a key frame. */
interface Batch {
  readonly tags: Buffer[]
  readonly startsWithKeyFrame: boolean
}

export class Broadcast {
  readonly #viewers = new Map<Viewer, Position>()
  /** The latest header of each kind, in the order of a file: metadata, video, audio. */
  readonly #headers: Partial<Record<MediaMessage['kind'], Buffer>> = {}
  /** What was sent since the last key frame; undefined before the first one, or if it became too large. */
  #group: Buffer[] | undefined
  #groupBytes = 0
  #hasVideo = false
  #batch: Batch | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  readonly #totals: BroadcastTotals

  constructor(totals: BroadcastTotals) {
    this.#totals = totals
  }

  get viewerCount(): number {
    return this.#viewers.size
  }

  /** Sends the headers and the frames since the last key frame, so that the picture appears at once. */
  join(viewer: Viewer): void {
    this.flush()
    const start = [FLV_HEADER, ...this.#headerTags()]
    const group = this.#group
    const isInStep = viewer.write(group === undefined ? start : [...start, ...group])
    this.#viewers.set(viewer, isInStep && (group !== undefined || !this.#hasVideo) ? 'in step' : 'waiting')
  }

  /** A file with the latest key frame alone. Undefined before the first one, or if what followed it became too large. */
  keyFrame(): Buffer | undefined {
    this.flush()
    const batch = this.#group?.[0]
    const { video: header } = this.#headers
    if (batch === undefined) return undefined
    return Buffer.concat([VIDEO_HEADER, ...(header === undefined ? [] : [header]), takeFirstTag(batch)])
  }

  leave(viewer: Viewer): void {
    this.#viewers.delete(viewer)
  }

  publish(message: MediaMessage): void {
    const role = classifyMessage(message)
    const tag = flvTag(message)
    this.#totals.bytes += message.payload.length
    if (message.kind === 'video') this.#hasVideo = true
    if (role !== 'frame') this.flush()
    if (role === 'header') this.#headers[message.kind] = tag
    if (this.#batch === undefined) this.#batch = { tags: [tag], startsWithKeyFrame: role === 'key frame' }
    else this.#batch.tags.push(tag)
    this.#timer ??= setTimeout(() => this.flush(), BATCH_MILLISECONDS)
  }

  /** Sends what waits to be sent together: one copy for all viewers. */
  flush(): void {
    const batch = this.#batch
    if (batch === undefined) return
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#batch = undefined
    const [first] = batch.tags
    const bytes = first !== undefined && batch.tags.length === 1 ? first : Buffer.concat(batch.tags)
    this.#keep(bytes, batch.startsWithKeyFrame)
    for (const [viewer, position] of this.#viewers)
      this.#deliver(viewer, position, bytes, batch.startsWithKeyFrame)
  }

  end(): void {
    this.flush()
    for (const viewer of this.#viewers.keys()) viewer.end()
    this.#viewers.clear()
  }

  #headerTags(): Buffer[] {
    const { metadata, video, audio } = this.#headers
    return [metadata, video, audio].filter(tag => tag !== undefined)
  }

  #keep(bytes: Buffer, isKeyFrame: boolean): void {
    if (isKeyFrame) {
      this.#group = []
      this.#groupBytes = 0
    }
    if (this.#group === undefined) return
    this.#groupBytes += bytes.length
    if (this.#groupBytes > MAX_GROUP_BYTES) this.#group = undefined
    else this.#group.push(bytes)
  }

  #deliver(viewer: Viewer, position: Position, bytes: Buffer, isKeyFrame: boolean): void {
    if (position === 'waiting' && !isKeyFrame) return
    // Headers may have changed while it waited.
    const pieces = position === 'waiting' ? [...this.#headerTags(), bytes] : [bytes]
    const next = viewer.write(pieces) ? 'in step' : 'waiting'
    if (next === position) return
    if (next === 'waiting') this.#totals.skips += 1
    this.#viewers.set(viewer, next)
  }
}
