import { type CampaignTimes, campaignPhase, readTimes, type StoredCampaign } from '../../domain/campaign.ts'
import { type Clock, isoMillis } from '../../kit/time/clock.ts'
import type { FeedEntry } from '../../store/feed.ts'
import type { FeedSubscriber } from '../../store/follower.ts'
import type { Store } from '../../store/store.ts'

/** Campaigns stay in memory for this long after their end, because the clock of a demo can be set back. */
const KEPT_MILLISECONDS = 31 * 24 * 3_600_000

/** A campaign that was published, as heartbeats need it. */
export interface OpenCampaign {
  readonly campaign: StoredCampaign
  readonly times: CampaignTimes
  /** Undefined: all channels. */
  readonly channels: ReadonlySet<string> | undefined
}

const NONE: readonly OpenCampaign[] = []

/** Whether the campaign takes minutes of this channel, if it plays the game. */
export const admits = ({ channels }: OpenCampaign, channel_id: string): boolean =>
  channels === undefined || channels.has(channel_id)

export const isActive = ({ times }: OpenCampaign, now: number): boolean =>
  campaignPhase(times, now) === 'active'

/** All campaigns that were published and are not long over, kept in step by the feed. */
export class OpenCampaigns implements FeedSubscriber {
  readonly #store: Pick<Store, 'campaigns'>
  readonly #clock: Clock
  #byId = new Map<string, OpenCampaign>()
  #byGame = new Map<string, OpenCampaign[]>()

  constructor(store: Pick<Store, 'campaigns'>, clock: Clock) {
    this.#store = store
    this.#clock = clock
  }

  async load(): Promise<() => void> {
    const campaigns = await this.#store.campaigns.open(isoMillis(this.#clock.now() - KEPT_MILLISECONDS))
    return () => {
      this.#byId = new Map(campaigns.map(each => [each.id, openCampaign(each)]))
      this.#index()
    }
  }

  apply({ change }: FeedEntry): void {
    if (change.kind !== 'campaign') return
    if (change.campaign === null) this.#byId.delete(change.id)
    else this.#byId.set(change.id, openCampaign(change.campaign))
    this.#index()
  }

  find(id: string): OpenCampaign | undefined {
    return this.#byId.get(id)
  }

  get isEmpty(): boolean {
    return this.#byId.size === 0
  }

  /** All of them, by id. */
  list(): OpenCampaign[] {
    return [...this.#byId.values()].sort((a, b) => (a.campaign.id < b.campaign.id ? -1 : 1))
  }

  /** Those of a game. */
  forGame(game_id: string): readonly OpenCampaign[] {
    return this.#byGame.get(game_id) ?? NONE
  }

  /** Those that count on a channel while it plays this game. */
  countingOn(channel_id: string, game_id: string, now: number): OpenCampaign[] {
    return this.forGame(game_id).filter(each => isActive(each, now) && admits(each, channel_id))
  }

  /** The active ones of a game, and those that list this channel, whatever its game. */
  concerning(channel_id: string, game_id: string, now: number): OpenCampaign[] {
    return [...this.#byId.values()].filter(
      each => (each.campaign.game_id === game_id || each.channels?.has(channel_id)) && isActive(each, now),
    )
  }

  /** The games in which viewers earn now. */
  activeGames(now: number): string[] {
    const isCounting = (game_id: string) => this.forGame(game_id).some(each => isActive(each, now))
    return [...this.#byGame.keys()].filter(isCounting).sort()
  }

  /** Whether an active campaign lists this channel, whatever its game. */
  lists(channel_id: string, now: number): boolean {
    for (const each of this.#byId.values())
      if (each.channels?.has(channel_id) && isActive(each, now)) return true
    return false
  }

  #index(): void {
    this.#byGame = Map.groupBy(this.#byId.values(), ({ campaign }) => campaign.game_id)
  }
}

function openCampaign(campaign: StoredCampaign): OpenCampaign {
  return {
    campaign,
    times: readTimes(campaign),
    channels: campaign.channels === 'all' ? undefined : new Set(campaign.channel_ids),
  }
}
