import { toNetwork } from '../kit/network.ts'
import type { WatchingViewer } from './watching-viewer.ts'

/** Counts the viewers who earn, by network: of one network, only so many earn at a time on each node (D-235). */
export class EarningNetworks {
  readonly #most: number
  /** By the hash of the network: two networks with one hash share their limit. */
  readonly #viewers = new Map<number, number>()

  constructor(most: number) {
    this.#most = most
  }

  /** Whether the viewer earns. The network of the first heartbeat that counts is kept. Simulated viewers have no address. */
  admit(viewer: WatchingViewer, address: string | undefined): boolean {
    if (viewer.earns) return true
    if (address !== undefined) {
      const network = Bun.hash.crc32(toNetwork(address))
      const count = this.#viewers.get(network) ?? 0
      if (count >= this.#most) return false
      this.#viewers.set(network, count + 1)
      viewer.network = network
    }
    viewer.earns = true
    return true
  }

  /** Makes room for another viewer of the network. */
  release({ network }: WatchingViewer): void {
    if (network === undefined) return
    const count = (this.#viewers.get(network) ?? 1) - 1
    if (count > 0) this.#viewers.set(network, count)
    else this.#viewers.delete(network)
  }

  clear(): void {
    this.#viewers.clear()
  }
}
