import { toNetwork, toSite } from '../network.ts'

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

  /** Takes a place, or several. Returns a function that leaves them, or undefined if there are none for this address. */
  take(address: string, places = 1): (() => void) | undefined {
    const [network, site] = [toNetwork(address), `site ${toSite(address)}`]
    const isOverShare =
      this.#wouldExceed(network, NETWORK_SHARE, places) || this.#wouldExceed(site, SITE_SHARE, places)
    if (this.#taken + places > this.#most || (isOverShare && !LOOPBACK.test(address))) return undefined
    this.#count([network, site], places)
    return () => this.#count([network, site], -places)
  }

  #wouldExceed(owner: string, share: number, places: number): boolean {
    return (this.#owners.get(owner) ?? 0) + places > Math.ceil(this.#most / share)
  }

  #count(owners: readonly string[], by: number): void {
    this.#taken += by
    for (const owner of owners) {
      const count = (this.#owners.get(owner) ?? 0) + by
      if (count > 0) this.#owners.set(owner, count)
      else this.#owners.delete(owner)
    }
  }
}
