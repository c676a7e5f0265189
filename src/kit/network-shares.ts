import { networkOf, siteOf } from './network.ts'

/** Programs on this machine, or a proxy that the settings do not name. */
const LOOPBACK = /^(?:127\.|::1$)/

/** A network gets a fifth of the places, and a site, which has many networks, two fifths. */
const NETWORK_SHARE = 5
const SITE_SHARE = 2.5

/** A bounded number of places, shared so that the callers of one network cannot keep out the others. */
export class NetworkShares {
  readonly #most: number
  #taken = 0
  /** Places taken by network, and by site. */
  readonly #owners = new Map<string, number>()

  constructor(most: number) {
    this.#most = most
  }

  get taken(): number {
    return this.#taken
  }

  /** Takes a place. Returns a function that leaves it, or undefined if there is none for this address. */
  take(address: string): (() => void) | undefined {
    const [network, site] = [networkOf(address), `site ${siteOf(address)}`]
    const isOverShare = this.#isOver(network, NETWORK_SHARE) || this.#isOver(site, SITE_SHARE)
    if (this.#taken >= this.#most || (isOverShare && !LOOPBACK.test(address))) return undefined
    this.#count([network, site], 1)
    return () => this.#count([network, site], -1)
  }

  #isOver(owner: string, share: number): boolean {
    return (this.#owners.get(owner) ?? 0) >= Math.ceil(this.#most / share)
  }

  #count(owners: readonly string[], by: 1 | -1): void {
    this.#taken += by
    for (const owner of owners) {
      const count = (this.#owners.get(owner) ?? 0) + by
      if (count > 0) this.#owners.set(owner, count)
      else this.#owners.delete(owner)
    }
  }
}
