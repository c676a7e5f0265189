import { toNetwork } from '../../kit/network.ts'
import type { WatchingViewer } from './watching-viewer.ts'

/** In place of the hash of a network. */
const NO_NETWORK = -1
const OVER_LIMIT = -2

/** Whether the last heartbeat of a viewer earned nothing because of its network. */
export const isOverLimit = ({ network }: WatchingViewer): boolean => network === OVER_LIMIT

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
    if (viewer.network === undefined || viewer.network === OVER_LIMIT)
      viewer.network = address === undefined ? NO_NETWORK : this.#enter(Bun.hash.crc32(toNetwork(address)))
    return viewer.network !== OVER_LIMIT
  }

  #enter(network: number): number {
    const count = this.#viewers.get(network) ?? 0
    if (count >= this.#most) return OVER_LIMIT
    this.#viewers.set(network, count + 1)
    return network
  }

  /** Makes room for another viewer of the network. */
  release({ network }: WatchingViewer): void {
    if (network === undefined || network < 0) return
    const count = (this.#viewers.get(network) ?? 1) - 1
    if (count > 0) this.#viewers.set(network, count)
    else this.#viewers.delete(network)
  }

  clear(): void {
    this.#viewers.clear()
  }
}
