/**
 * The tracks of a broadcast, from the configurations that its publisher sends. A configuration is read with the first frame
 * that uses it, because a publisher may send any number of them.
 */
import { MAX_CONFIG_BYTES, readConfig, sameConfig, type TrackConfig } from './codec-config.ts'
import type { Packet } from './packet.ts'

type Kind = Packet['kind']

export class Tracks {
  /** The last configuration of each kind, and what was read of one that frames have used. */
  readonly #configs: Partial<Record<Kind, Packet>> = {}
  readonly #tracks: Partial<Record<Kind, TrackConfig>> = {}
  readonly #isUnread: Partial<Record<Kind, boolean>> = {}
  #list: readonly TrackConfig[] = []

  /** In the order of a file; another list when one of them is another. */
  get list(): readonly TrackConfig[] {
    return this.#list
  }

  get video(): TrackConfig | undefined {
    return this.#tracks.video
  }

  get hasBoth(): boolean {
    return this.#list.length === 2
  }

  keepConfig(packet: Packet): void {
    const { kind, codec, data } = packet
    if (data.length > MAX_CONFIG_BYTES) return
    const known = this.#configs[kind]
    if (known?.codec === codec && Buffer.compare(known.data, data) === 0) return
    this.#configs[kind] = packet
    this.#isUnread[kind] = true
  }

  /** Whether the frame can be decoded, and whether its track is another than that of the frame before. */
  read({ kind, codec, data }: Packet): 'known' | 'new' | 'changed' | 'unknown' {
    const known = this.#tracks[kind]
    if (known?.codec === codec && codec !== 'mp3' && this.#isUnread[kind] !== true) return 'known'
    const source = codec === 'mp3' ? { codec, data } : this.#configs[kind]
    const track = source?.codec === codec ? readConfig(source) : undefined
    if (track === undefined) return 'unknown'
    this.#isUnread[kind] = false
    if (known !== undefined && sameConfig(known, track)) return 'known'
    this.#tracks[kind] = track
    this.#list = [this.#tracks.video, this.#tracks.audio].filter(each => each !== undefined)
    return known === undefined ? 'new' : 'changed'
  }
}

export function sameTracks(one: readonly TrackConfig[], other: readonly TrackConfig[]): boolean {
  if (one === other) return true
  if (one.length !== other.length) return false
  return one.every((track, index) => {
    const counterpart = other[index]
    return counterpart !== undefined && (track === counterpart || sameConfig(track, counterpart))
  })
}
