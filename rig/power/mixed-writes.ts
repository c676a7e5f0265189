/** The load: durable writes of every kind, each recorded in the journal. */
import { hashToken } from '../../src/auth/tokens.ts'
import type { Caller } from '../load/caller.ts'
import type { TokenHolder, World } from '../world.ts'
import { ABSENT, type Journal } from './journal.ts'

const GROUPS = 4
const GROUP_SIZE = 100
const GRANT_SIZE = 20
/** Writes of each kind per round. */
const UPDATES_A_ROUND = 6

const CLAIMED = 'CLAIMED'
const FULFILLED = 'FULFILLED'
export const LIVE = 'live'
export const THERE = 'there'

/** Planted bug: a batch written by two requests, like a server that splits it over two transactions. */
export const SPLIT_GROUP = 'group split'

/** Maps journal keys to what is in the store. */
export interface Subjects {
  readonly groups: ReadonlyMap<string, readonly string[]>
  readonly channels: ReadonlyMap<string, string>
  readonly markers: ReadonlyMap<string, string>
  /** Hashes of tokens. */
  readonly tokens: ReadonlyMap<string, string>
}

export class MixedWrites {
  readonly #caller: Caller
  readonly #world: World
  readonly #journal: Journal
  readonly #groups = new Map<string, readonly string[]>()
  readonly #channels = new Map<string, string>()
  readonly #markers = new Map<string, string>()
  readonly #tokens = new Map<string, string>()
  readonly #issued: string[] = []
  #count = 0

  constructor(caller: Caller, world: World, journal: Journal) {
    this.#caller = caller
    this.#world = world
    this.#journal = journal
  }

  get subjects(): Subjects {
    return {
      groups: this.#groups,
      channels: this.#channels,
      markers: this.#markers,
      tokens: this.#tokens,
    }
  }

  /** Grants the entitlements that the rounds update. */
  async begin(): Promise<void> {
    for (const key of [...this.#updatedGroups(), SPLIT_GROUP]) await this.#grant(key, GROUP_SIZE)
  }

  /** A fixed number of writes of each kind, all kinds concurrently. */
  async round(): Promise<void> {
    const repeat = async (times: number, work: () => Promise<unknown>) => {
      for (let time = 0; time < times; time++) await work()
    }
    const [first, second, ...others] = this.#world.marking
    if (first === undefined || second === undefined) throw new Error('the world has no broadcasters')
    await Promise.all([
      ...this.#updatedGroups().map(key => repeat(UPDATES_A_ROUND, () => this.#update(key))),
      repeat(UPDATES_A_ROUND, () => this.#updateInHalves()),
      repeat(UPDATES_A_ROUND, () => this.#mark(first)),
      repeat(UPDATES_A_ROUND, () => this.#mark(second)),
      repeat(UPDATES_A_ROUND, () => this.#toggle(this.#world.churning[this.#count++ % 6] ?? '')),
      repeat(UPDATES_A_ROUND, () => this.#issueAndEnd(others)),
      repeat(2, () => this.#grant(`grant ${this.#count++}`, GRANT_SIZE)),
    ])
  }

  #updatedGroups(): string[] {
    return Array.from({ length: GROUPS }, (_, index) => `group ${index + 1}`)
  }

  async #grant(key: string, size: number): Promise<void> {
    const ids = Array.from({ length: size }, () => crypto.randomUUID())
    this.#groups.set(key, ids)
    const { benefitId, gameId, operatorToken, steady } = this.#world
    await this.#journal.write(key, CLAIMED, () => {
      const timestamp = new Date().toISOString()
      const grants = ids.map(id => ({
        id,
        timestamp,
        user_id: steady[0],
        benefit_id: benefitId,
        game_id: gameId,
      }))
      return this.#caller.must('setting up', 'POST', '/control/entitlements', {
        token: operatorToken,
        body: { grants },
      })
    })
  }

  async #update(key: string): Promise<void> {
    const status = this.#journal.lastOf(key) === CLAIMED ? FULFILLED : CLAIMED
    await this.#journal.write(key, status, () => this.#patch(this.#groups.get(key) ?? [], status))
  }

  async #updateInHalves(): Promise<void> {
    const ids = this.#groups.get(SPLIT_GROUP) ?? []
    const status = this.#journal.lastOf(SPLIT_GROUP) === CLAIMED ? FULFILLED : CLAIMED
    await this.#journal.write(SPLIT_GROUP, status, async () => {
      await this.#patch(ids.slice(0, GROUP_SIZE / 2), status)
      await this.#patch(ids.slice(GROUP_SIZE / 2), status)
    })
  }

  #patch(ids: readonly string[], status: string): Promise<unknown> {
    return this.#caller.must('update', 'PATCH', '/helix/entitlements/drops', {
      token: this.#world.appToken,
      body: { entitlement_ids: ids, fulfillment_status: status },
    })
  }

  async #mark(broadcaster: TokenHolder): Promise<void> {
    const description = `marker ${this.#count++}`
    this.#markers.set(description, description)
    await this.#journal.write(description, THERE, () =>
      this.#caller.must('marker', 'POST', '/helix/streams/markers', {
        token: broadcaster.token,
        body: { user_id: broadcaster.id, description },
      }),
    )
  }

  async #toggle(user: string): Promise<void> {
    const key = `channel ${user}`
    this.#channels.set(key, user)
    const path = `/control/channels/${user}/stream`
    const token = this.#world.operatorToken
    const isLive = this.#journal.lastOf(key) === LIVE
    await this.#journal.write(key, isLive ? ABSENT : LIVE, () =>
      isLive
        ? this.#caller.must('stream', 'DELETE', path, { token })
        : this.#caller.must('stream', 'PUT', path, { token, body: { viewer_count: 5 } }),
    )
  }

  /** Issues a token and revokes every second one. */
  async #issueAndEnd(users: readonly TokenHolder[]): Promise<void> {
    const token = this.#world.operatorToken
    const path = '/control/tokens'
    const body = { client_id: this.#world.clientId, user_id: users[0]?.id }
    const answer = await this.#journal.create(
      THERE,
      ({ body: issued }) => this.#noteToken(issued.data[0].access_token),
      () => this.#caller.must('setting up', 'POST', path, { token, body }),
    )
    const issued: string = answer.body.data[0].access_token
    this.#issued.push(issued)
    if (this.#issued.length % 2 === 0) return
    await this.#journal.write(this.#noteToken(issued), ABSENT, () =>
      this.#caller.must('setting up', 'DELETE', path, { token, body: { token: issued } }),
    )
  }

  #noteToken(token: string): string {
    const hash = hashToken(token)
    const key = `token ${hash.slice(0, 12)}`
    this.#tokens.set(key, hash)
    return key
  }
}
