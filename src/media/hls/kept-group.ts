/** The packets since the last key frame of a broadcast that is not packaged, for the first who asks for it (D-257). */
import type { MediaMemory } from '../media-memory.ts'
import type { Packet } from '../packet.ts'

/** Of a longer group nothing is kept. */
const MAX_BYTES = 8 * 1024 * 1024
/** What a packet takes beside its data. */
const PACKET_BYTES = 500

export class KeptGroup {
  readonly #memory: MediaMemory
  #packets: Packet[] = []
  #bytes = 0

  constructor(memory: MediaMemory) {
    this.#memory = memory
  }

  get isEmpty(): boolean {
    return this.#packets.length === 0
  }

  /** @param isKey whether it begins a group */
  keep(packet: Packet, isKey: boolean): void {
    if (isKey) this.drop()
    else if (this.isEmpty) return
    const bytes = packet.data.length + PACKET_BYTES
    if (this.#bytes + bytes > MAX_BYTES) this.drop()
    else {
      this.#packets.push(packet)
      this.#bytes += bytes
      this.#memory.add(bytes)
    }
  }

  take(): readonly Packet[] {
    const packets = this.#packets
    this.drop()
    return packets
  }

  drop(): void {
    this.#memory.add(-this.#bytes)
    this.#packets = []
    this.#bytes = 0
  }
}
