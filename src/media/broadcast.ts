/** A running broadcast: what those who join need, and those who watch. */
import { FLV_HEADER, flvTag, roleOf, VIDEO_HEADER } from './flv.ts'
import type { MediaMessage } from './rtmp/publisher.ts'

/** Maximum bytes since the last key frame that are kept for those who join. */
const MAX_GROUP_BYTES = 8 * 1024 * 1024

/** Someone who watches. Returns false when it cannot take more now: then it is skipped until the next key frame. */
export interface Viewer {
  write(bytes: Uint8Array): boolean
  end(): void
}

/** Where a viewer is: it has the headers and every frame so far, or waits for the next key frame. */
type Position = 'in step' | 'waiting'

/** Counted over all broadcasts. */
export interface BroadcastTotals {
  bytes: number
  skips: number
}

export class Broadcast {
  readonly #viewers = new Map<Viewer, Position>()
  /** The latest header of each kind, in the order of a file: metadata, video, audio. */
  readonly #headers: Partial<Record<MediaMessage['kind'], Buffer>> = {}
  /** The tags since the last key frame; undefined before the first one, or if they became too large. */
  #group: Buffer[] | undefined
  #groupBytes = 0
  #hasVideo = false
  readonly #totals: BroadcastTotals

  constructor(totals: BroadcastTotals) {
    this.#totals = totals
  }

  get viewerCount(): number {
    return this.#viewers.size
  }

  /** Sends the headers and the frames since the last key frame, so that the picture appears at once. */
  join(viewer: Viewer): void {
    const start = [FLV_HEADER, ...this.#headerTags()]
    const group = this.#group
    const isInStep = viewer.write(Buffer.concat(group === undefined ? start : [...start, ...group]))
    this.#viewers.set(viewer, isInStep && (group !== undefined || !this.#hasVideo) ? 'in step' : 'waiting')
  }

  /** A file with the latest key frame alone. Undefined before the first one, or if what followed it became too large. */
  keyFrame(): Buffer | undefined {
    const keyFrame = this.#group?.[0]
    const { video: header } = this.#headers
    if (keyFrame === undefined) return undefined
    return Buffer.concat([VIDEO_HEADER, ...(header === undefined ? [] : [header]), keyFrame])
  }

  leave(viewer: Viewer): void {
    this.#viewers.delete(viewer)
  }

  publish(message: MediaMessage): void {
    const role = roleOf(message)
    const tag = flvTag(message)
    this.#totals.bytes += message.payload.length
    if (message.kind === 'video') this.#hasVideo = true
    if (role === 'header') this.#headers[message.kind] = tag
    else this.#keep(tag, role === 'key frame')
    for (const [viewer, position] of this.#viewers) this.#deliver(viewer, position, tag, role === 'key frame')
  }

  end(): void {
    for (const viewer of this.#viewers.keys()) viewer.end()
    this.#viewers.clear()
  }

  #headerTags(): Buffer[] {
    const { metadata, video, audio } = this.#headers
    return [metadata, video, audio].filter(tag => tag !== undefined)
  }

  #keep(tag: Buffer, isKeyFrame: boolean): void {
    if (isKeyFrame) {
      this.#group = []
      this.#groupBytes = 0
    }
    if (this.#group === undefined) return
    this.#groupBytes += tag.length
    if (this.#groupBytes > MAX_GROUP_BYTES) this.#group = undefined
    else this.#group.push(tag)
  }

  #deliver(viewer: Viewer, position: Position, tag: Buffer, isKeyFrame: boolean): void {
    if (position === 'waiting' && !isKeyFrame) return
    // Headers may have changed while it waited.
    const bytes = position === 'waiting' ? Buffer.concat([...this.#headerTags(), tag]) : tag
    const next = viewer.write(bytes) ? 'in step' : 'waiting'
    if (next === position) return
    if (next === 'waiting') this.#totals.skips += 1
    this.#viewers.set(viewer, next)
  }
}
