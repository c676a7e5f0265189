/**
 * Collects commands that share a transaction: those that arrive while a group runs form the next. A command waits for a
 * bounded time; one that has waited too long is refused and never runs.
 */
import { inTime } from '../../kit/in-time.ts'
import type { CommandOutcome } from '../engine.ts'
import { Overloaded } from '../errors.ts'
import type { Job } from './run-command.ts'

/** More cannot be run within the time that callers wait. */
const MAX_WAITING = 5000

interface Waiting<J> {
  readonly job: J
  readonly until: number
  resolve(outcome: CommandOutcome | undefined): void
  reject(error: unknown): void
}

export class GroupCommit<J extends Job = Job> {
  readonly #run: (jobs: readonly J[]) => Promise<readonly (CommandOutcome | undefined)[]>
  readonly #maxGroup: number
  readonly #maxWait: number
  readonly #waiting: Waiting<J>[] = []
  #isRunning = false
  #timer: Timer | undefined

  /** `run` returns the outcome of each job, undefined if it has to run alone. If it throws, all of them have failed. */
  constructor(
    run: (jobs: readonly J[]) => Promise<readonly (CommandOutcome | undefined)[]>,
    maxGroup: number,
    maxWaitMilliseconds: number,
  ) {
    this.#run = run
    this.#maxGroup = maxGroup
    this.#maxWait = maxWaitMilliseconds
  }

  get waiting(): number {
    return this.#waiting.length
  }

  run(job: J): Promise<CommandOutcome | undefined> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.length >= MAX_WAITING) return reject(refusal())
      this.#waiting.push({ job, until: performance.now() + this.#maxWait, resolve, reject })
      // The first has waited longest, so one timer is enough.
      this.#timer ??= setTimeout(() => this.#refuseLate(), this.#maxWait)
      if (this.#isRunning) return
      this.#isRunning = true
      // Commands of the same turn of the event loop form one group.
      setImmediate(() => void this.#runAll())
    })
  }

  /** One group at a time. One that hangs does not block the next: it may be the fault of its connection. */
  async #runAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const group = this.#waiting.splice(0, this.#maxGroup)
      await inTime(this.#maxWait, this.#answer(group), () => undefined)
    }
    this.#isRunning = false
  }

  async #answer(group: readonly Waiting<J>[]): Promise<void> {
    try {
      const outcomes = await this.#run(group.map(({ job }) => job))
      for (const [index, { resolve }] of group.entries()) resolve(outcomes[index])
    } catch (error) {
      for (const { reject } of group) reject(error)
    }
  }

  #refuseLate(): void {
    const now = performance.now()
    while (this.#waiting[0] !== undefined && this.#waiting[0].until <= now)
      this.#waiting.shift()?.reject(refusal())
    const next = this.#waiting[0]?.until
    this.#timer = next === undefined ? undefined : setTimeout(() => this.#refuseLate(), next - now)
  }
}

const refusal = () => new Overloaded('too many writes are waiting')
