/**
 * Group commit on PostgreSQL: commands that share a transaction.
 *
 * The problem: changes of streams and channels write to the feed, and the feed has one head. A transaction locks the head when it
 * appends its entries, and keeps it locked until its commit has reached the disk, so that feed numbers follow the order of
 * commits. Transactions that change streams therefore wait for each other, on all nodes, each for a whole commit. More
 * connections do not help.
 *
 * The solution: let many commands pass the head together. Those that arrive while a group runs form the next group. It runs
 * as one transaction, which locks the head once and waits for the disk once. Under load, groups grow by themselves; an idle
 * server has groups of one.
 *
 *     commands:   a        b c d           e f
 *     groups:     [a      ][b c d         ][e f        ]
 *                  '-- b, c and d arrive while [a] commits
 *
 * | What happens | What the callers get |
 * |---|---|
 * | the group commits | the result of each command |
 * | a command refuses inside the group, or a row that it needs is locked | that command runs again, alone |
 * | a command fails | nothing is written, and each command of the group runs alone |
 * | the server fails | all commands of the group fail, as one alone would |
 * | a command waits too long for its turn, or 5,000 wait already | `Overloaded`; it never runs |
 *
 * What must hold:
 * - Only commands that change nothing but what belongs to one user may share a transaction (`command-list.ts`). Within a group
 *   those about one user run one after another, others side by side (`run-command.ts`), with their statements combined
 *   (`combiner.ts`).
 * - A caller is answered after the commit of its group.
 * - A group that hangs delays the next one for a bounded time: the cause may be its connection.
 *
 * ADR 0040 has measurements: about six times as many changes per second as with a transaction for each command.
 */
import { Batcher } from '../../kit/queues/batcher.ts'
import type { Job } from '../engine/run-command.ts'
import type { CommandOutcome } from '../engine.ts'
import { Overloaded } from '../errors.ts'

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
