/** The usual load: every caller does a little of everything through the balancer, and all of it is written down. */
import type { Operation } from '../judge/operation.ts'
import type { Walk } from '../judge/walks.ts'
import type { Stage } from '../stage.ts'
import { type EntitlementGroup, grantGroups, type World } from '../world.ts'
import { type Agreement, untilNodesAgree } from './agreement.ts'
import { type Asked, Caller } from './caller.ts'
import { readGroup, updateGroup } from './entitlement-load.ts'
import { MarkerJournal } from './marker-load.ts'
import { StreamJournal } from './stream-load.ts'
import { walkDirectory } from './walk-load.ts'

const GROUPS = 6
const WRITERS = 4
const READERS = 4
const STARTERS = 2
const FINAL_TRIES = 60

/** Milliseconds that a process rests between two requests. */
const REST = { update: 60, read: 50, directory: 40, walk: 200, marker: 3500, stream: 120, viewers: 300 }
const VIEWERS_AT_ONCE = 50
const WALK_PAGE = 100

/** What the load found out. Everything that was acknowledged has been looked for again at the end. */
export interface Recorded {
  readonly operations: readonly Operation[]
  readonly groups: readonly EntitlementGroup[]
  readonly asked: readonly Asked[]
  readonly walks: readonly Walk[]
  readonly markers: { readonly acknowledged: number; readonly lost: number }
  /** Channels that do not stand as was acknowledged. */
  readonly wrongChannels: number
  readonly agreement: Agreement
}

export class Load {
  readonly caller: Caller
  readonly groups: readonly EntitlementGroup[]
  readonly #stage: Stage
  readonly #world: World
  readonly #operations: Operation[] = []
  readonly #walks: Walk[] = []
  readonly #markers = new MarkerJournal()
  readonly #streams: StreamJournal
  readonly #processes: Promise<void>[] = []
  #ending = false

  private constructor(stage: Stage, world: World, caller: Caller, groups: readonly EntitlementGroup[]) {
    this.#stage = stage
    this.#world = world
    this.caller = caller
    this.groups = groups
    this.#streams = new StreamJournal(world.operatorToken)
  }

  static async begin(stage: Stage, world: World): Promise<Load> {
    const caller = new Caller(stage.balancer.url)
    const load = new Load(stage, world, caller, await grantGroups(caller, world, GROUPS))
    load.#start()
    return load
  }

  #start(): void {
    const { caller } = this
    const world = this.#world
    for (let number = 1; number <= WRITERS; number++) {
      this.#repeat(REST.update, async () => {
        const write = { process: `writer ${number}`, status: anyOf(['CLAIMED', 'FULFILLED']) }
        this.#operations.push(await updateGroup(caller, world, anyOf(this.groups), write))
      })
    }
    for (let number = 1; number <= READERS; number++) {
      this.#repeat(REST.read, async () => {
        this.#operations.push(await readGroup(caller, world, anyOf(this.groups), `reader ${number}`))
      })
    }
    this.#repeat(REST.directory, async () => {
      await caller.ask('directory', 'GET', '/helix/streams?first=20')
    })
    this.#repeat(REST.walk, async () => {
      this.#walks.push(await walkDirectory(caller, WALK_PAGE))
    })
    for (const broadcaster of world.marking) {
      this.#repeat(REST.marker, () => this.#markers.create(caller, broadcaster))
    }
    for (let number = 0; number < STARTERS; number++) {
      const own = world.churning.filter((_, index) => index % STARTERS === number)
      this.#repeat(REST.stream, () => this.#streams.toggle(caller, anyOf(own)))
    }
    this.#repeat(REST.viewers, async () => {
      const ids = Array.from({ length: VIEWERS_AT_ONCE }, () => anyOf(world.steady))
      const counts = Object.fromEntries(ids.map(id => [id, Math.floor(Math.random() * 10_000)]))
      await caller.ask('viewers', 'POST', '/control/viewers', {
        token: world.operatorToken,
        body: { counts },
      })
    })
  }

  #repeat(rest: number, work: () => Promise<void>): void {
    const process = async () => {
      while (!this.#ending) {
        await work()
        await Bun.sleep(rest * (0.5 + Math.random()))
      }
    }
    this.#processes.push(process())
  }

  /** Ends the load, and looks at everything once more. */
  async end(): Promise<Recorded> {
    this.#ending = true
    await Promise.all(this.#processes)
    const asked = [...this.caller.asked]
    for (const group of this.groups) this.#operations.push(await this.#readAtLast(group))
    const agreement = await untilNodesAgree(this.#stage)
    return {
      operations: this.#operations,
      groups: this.groups,
      asked,
      walks: this.#walks,
      markers: {
        acknowledged: this.#markers.size,
        lost: await this.#markers.countLost(this.caller),
      },
      wrongChannels: this.#streams.countWrong(agreement.live),
      agreement,
    }
  }

  async #readAtLast(group: EntitlementGroup): Promise<Operation> {
    for (let attempt = 1; ; attempt++) {
      const operation = await readGroup(this.caller, this.#world, group, 'the last look')
      if (operation.outcome === 'ok' || attempt === FINAL_TRIES) return operation
      await Bun.sleep(500)
    }
  }
}

export function anyOf<T>(from: readonly T[]): T {
  return from[Math.floor(Math.random() * from.length)] as T
}
