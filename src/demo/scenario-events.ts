/** Changes that a scenario plans for later: each makes an event, at a time of the demo's clock. */

import type { ScenarioEvent } from '../contract/resources/scenario.ts'
import { decimalId, uuid } from '../kit/id.ts'
import { isoMillis, isoSeconds } from '../kit/time/clock.ts'
import type { TimedWork } from '../operations/demo/demo-timeline.ts'
import type { Services } from '../operations/implement.ts'
import type { Step } from '../store/command-list.ts'
import { Conflict, Unavailable } from '../store/errors.ts'

export interface PlannedEvent {
  readonly after: number
  /** The change, as if it were made at this time. */
  readonly stepAt: (now: number) => Step
}

interface Context {
  findId(person: string): string
  readonly own: { readonly benefit_id: string; readonly game_id: string }
}

export function planEvents(events: readonly ScenarioEvent[], context: Context): PlannedEvent[] {
  return events
    .map(event => ({
      after: event.after_seconds * 1000,
      stepAt: (now: number) => planStep(event, context, now),
    }))
    .sort((one, other) => one.after - other.after)
}

function planStep(event: ScenarioEvent, { findId, own }: Context, now: number): Step {
  const user_id = findId(event.user)
  switch (event.type) {
    case 'stream.online':
      return [
        'startStream',
        { user_id, stream_id: decimalId(now), video_id: decimalId(now), started_at: isoSeconds(now) },
      ]
    case 'stream.offline':
      return ['endStream', { user_id, now }]
    case 'channel.update':
      return ['changeChannel', { user_id, title: event.title, video_id: '' }]
    case 'channel.follow':
      return [
        'putFollows',
        { follows: [{ user_id: findId(event.by ?? 'viewer'), broadcaster_id: user_id }], now },
      ]
    case 'drop.entitlement.grant': {
      const { benefit_id, game_id } = own
      const timestamp = isoMillis(now)
      const grant = { id: uuid(), user_id, benefit_id, game_id, timestamp, timestampGiven: true }
      return ['grantEntitlements', { grants: [grant] }]
    }
  }
}

/** Runs planned events when the clock of the demo has reached them. */
export class ScenarioEvents implements TimedWork {
  readonly #services: Pick<Services, 'store' | 'clock' | 'log'>
  #pending: readonly PlannedEvent[] = []
  #startedAt = 0

  constructor(services: Pick<Services, 'store' | 'clock' | 'log'>) {
    this.#services = services
  }

  /** Starts from the first event, as if the world were made at this time. */
  restart(events: readonly PlannedEvent[], startedAt: number): void {
    this.#pending = events
    this.#startedAt = startedAt
  }

  /** What is still to happen, and the function that returns to it. */
  save(): () => void {
    const [pending, startedAt] = [this.#pending, this.#startedAt]
    return () => this.restart(pending, startedAt)
  }

  nextAt(): number | undefined {
    const [next] = this.#pending
    return next && this.#startedAt + next.after
  }

  async run(): Promise<void> {
    const { store, clock, log } = this.#services
    for (;;) {
      const [next, ...later] = this.#pending
      if (next === undefined || this.#startedAt + next.after > clock.now()) return
      try {
        await store.commands.runSteps({ steps: [next.stepAt(this.#startedAt + next.after)] })
      } catch (error) {
        // A store that is busy is asked again. A change that is wrong, such as the end of no stream, is left out.
        if (error instanceof Unavailable || error instanceof Conflict) throw error
        log.warn({ error: String(error) }, 'an event of the scenario failed')
      }
      this.#pending = later
    }
  }
}
