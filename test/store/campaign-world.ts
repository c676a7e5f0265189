/** A campaign on a store without a server, for tests of what happens in it. */
import { isRefusal } from '../../src/contract/problem.ts'
import type { StoredCampaign } from '../../src/domain/campaign.ts'
import { SLOT_MILLISECONDS, slotAt } from '../../src/domain/watched-minutes.ts'
import { isoMillis } from '../../src/kit/time/clock.ts'
import type { Store } from '../../src/store/store.ts'
import { anyStreamKey } from '../support/store/stores.ts'

export const START = Date.parse('2026-03-01T12:00:00.000Z')
export const FIRST_SLOT = slotAt(START)
export const ORGANIZATION = '8f2c1d34-0f51-4d0a-9f33-1a2b3c4d5e6f'
export const GAME = '33214'

export const expectDone = <T>(result: T): Exclude<T, { problem: unknown }> => {
  if (isRefusal(result)) throw new Error(`refused: ${JSON.stringify(result)}`)
  return result as Exclude<T, { problem: unknown }>
}

export class CampaignWorld {
  readonly store: Store
  readonly #benefits: string[] = []

  private constructor(store: Store) {
    this.store = store
  }

  /** An organization with a game and benefits. */
  static async create(store: Store, benefits = 3): Promise<CampaignWorld> {
    const world = new CampaignWorld(store)
    await store.commands.putOrganization({ id: ORGANIZATION, name: 'Reef' })
    await store.commands.putGame({ id: GAME, name: 'Kite Racers', organization_id: ORGANIZATION })
    for (let count = 0; count < benefits; count++) {
      const id = crypto.randomUUID()
      await store.commands.putBenefit({ id, name: `Kite ${count}`, organization_id: ORGANIZATION })
      world.#benefits.push(id)
    }
    return world
  }

  async addUsers(ids: readonly string[]): Promise<void> {
    for (const id of ids)
      await this.store.commands.putUser({ id, login: `user${id}`, stream_key: anyStreamKey(id), now: START })
  }

  /** A published campaign of four hours, with a drop for each number of minutes. */
  async publish(
    minutes: readonly number[] = [30],
    more: Partial<Omit<StoredCampaign, 'id' | 'state' | 'stopped_at'>> = {},
  ): Promise<StoredCampaign> {
    const id = crypto.randomUUID()
    const drops = minutes.map(required_minutes => ({
      id: crypto.randomUUID(),
      name: `${required_minutes} minutes`,
      required_minutes,
      benefit_ids: this.#benefits,
    }))
    const content = {
      name: 'Reef week',
      organization_id: ORGANIZATION,
      game_id: GAME,
      starts_at: isoMillis(START),
      ends_at: isoMillis(START + 4 * 3_600_000),
      claim_seconds: 3600,
      drops,
      ...more,
    }
    expectDone(await this.store.commands.putCampaign({ id, content, now: START }))
    return expectDone(await this.store.commands.publishCampaign({ id, now: START }))
  }

  /** A node reports slots, counted from the start of the campaign, a while after the last. */
  report(user_id: string, slots: readonly number[], campaigns: readonly string[], now?: number) {
    const last = Math.max(0, ...slots)
    return this.store.commands.flushWatchTime({
      viewers: [{ user_id, slots: slots.map(slot => [FIRST_SLOT + slot, 0] as const) }],
      sets: [campaigns],
      now: now ?? START + (last + 1) * SLOT_MILLISECONDS,
      ownClock: true,
    })
  }

  async minutes(user_id: string, campaign_id: string): Promise<number> {
    const [progress] = await this.store.dropProgress.ofViewer(user_id, [campaign_id])
    return progress?.minutes ?? 0
  }

  async entitlements(user_id: string) {
    return (await this.store.entitlements.page({ user_id }, { first: 100, direction: 'forward' })).rows
  }
}

/** The slots from the first up to a number of them. */
export const slotsUpTo = (count: number, from = 0): number[] =>
  Array.from({ length: count }, (_, index) => from + index)
