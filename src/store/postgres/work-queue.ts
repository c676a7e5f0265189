import { BoundedQueue, FirstComeLine } from '../../kit/queues/bounded-queue.ts'
import { Overloaded } from '../errors.ts'

/** A longer queue cannot be served within the time that callers wait. */
const MAX_QUEUE_LENGTH = 5000

export type WorkQueue = BoundedQueue<{ readonly urgent?: boolean }>

/** Bounds the work on the connections of a store: so much runs at a time, and what waits too long is refused. */
export function createWorkQueue(
  places: number,
  maxWaitMilliseconds: number,
  work: 'reads' | 'writes' = 'writes',
): WorkQueue {
  // Shared: when thousands are refused, a stack trace for each would add to the load.
  const refusal = new Overloaded(`too many ${work} are waiting`)
  return new BoundedQueue({
    places,
    line: new FirstComeLine(MAX_QUEUE_LENGTH),
    maxWaitMilliseconds,
    refusal: () => refusal,
  })
}
