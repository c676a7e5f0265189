/**
 * Collects commands that share a transaction: those that arrive while a group runs form the next. A command waits for a
 * bounded time; one that has waited too long is refused and never runs. A group that hangs does not block the next for
 * longer than that: it may be the fault of its connection.
 */
import { Batcher } from '../../kit/batcher.ts'
import type { CommandOutcome } from '../engine.ts'
import { Overloaded } from '../errors.ts'
import type { Job } from './run-command.ts'

/** More cannot be run within the time that callers wait. */
const MAX_WAITING = 5000

export type GroupCommit<J extends Job = Job> = Batcher<J, CommandOutcome | undefined>

/** `run` returns the outcome of each job, undefined if it has to run alone. If it throws, all of them have failed. */
export function createGroupCommit<J extends Job = Job>(
  run: (jobs: readonly J[]) => Promise<readonly (CommandOutcome | undefined)[]>,
  maxGroup: number,
  maxWaitMilliseconds: number,
): GroupCommit<J> {
  return new Batcher(run, maxGroup, {
    // Commands of the same turn of the event loop form one group.
    soon: setImmediate,
    bounds: {
      maxWaiting: MAX_WAITING,
      maxWaitMilliseconds,
      refusal: () => new Overloaded('too many writes are waiting'),
    },
  })
}
