import { toNetwork } from '../kit/network.ts'

/** Only allowed where the operator trusts callbacks: tests and private networks. */
const LOOPBACK = /^(?:127\.|::1$)/

/** Limits requests in flight to one address, or to one network of IPv6, whatever names it has. */
export class AddressShares {
  readonly #most: number
  readonly #taken = new Map<string, number>()

  constructor(most: number) {
    this.#most = most
  }

  /** Takes a place at all of these addresses. Returns a function that leaves them, or undefined if one has none. */
  take(addresses: readonly string[]): (() => void) | undefined {
    const networks = [...new Set(addresses.filter(address => !LOOPBACK.test(address)).map(toNetwork))]
    if (networks.some(network => (this.#taken.get(network) ?? 0) >= this.#most)) return undefined
    for (const network of networks) this.#taken.set(network, (this.#taken.get(network) ?? 0) + 1)
    let isLeft = false
    return () => {
      if (isLeft) return
      isLeft = true
      for (const network of networks) {
        const left = (this.#taken.get(network) ?? 0) - 1
        if (left > 0) this.#taken.set(network, left)
        else this.#taken.delete(network)
      }
    }
  }
}
