/** The webhook requests of this process that are in flight, for the rules of `domain/events/webhook-room.ts`. */
import {
  type MessageGroup,
  type MessageQueues,
  messageGroup,
  type WebhookRoom,
} from '../domain/events/webhook-room.ts'

export type SlotLimits = Readonly<Record<MessageGroup, number>>

const SLOW_MILLISECONDS = 1000
const QUICK_MILLISECONDS = 100
const MAX_QUICK_HOSTS = 64

interface Request {
  readonly queues: MessageQueues
  readonly group: MessageGroup
  readonly sentAt: number
  /** Whether its lane was failing when it was sent. */
  readonly isFailing: boolean
}

/** How a request has ended. */
interface RequestEnd {
  readonly isAnswered: boolean
  readonly now: number
}

export class Slots {
  readonly #limits: SlotLimits
  readonly #requests = new Set<Request>()
  /** Hosts whose last answer was quick, the latest at the end. */
  readonly #quick = new Set<string>()
  readonly #counts: Record<MessageGroup, number> = { notifications: 0, verifications: 0 }

  constructor(limits: SlotLimits) {
    this.#limits = limits
  }

  get inFlight(): number {
    return this.#requests.size
  }

  /** Whether there is nothing that could be sent. */
  get isFull(): boolean {
    return this.#counts.notifications >= this.#limits.notifications
  }

  /** What may be sent now. */
  room(now: number): WebhookRoom {
    const taken: Record<string, number> = {}
    const held: Record<string, number> = {}
    const heldIn = { notifications: 0, verifications: 0 }
    const slow = new Set<string>()
    for (const { queues, sentAt } of this.#requests)
      if (now - sentAt > SLOW_MILLISECONDS) slow.add(queues.lane)
    for (const request of this.#requests) {
      const { host, lane } = request.queues
      for (const name of new Set([host, lane])) taken[name] = (taken[name] ?? 0) + 1
      if (!request.isFailing && !slow.has(lane)) continue
      held[host] = (held[host] ?? 0) + 1
      heldIn[request.group] += 1
    }
    const free = (group: MessageGroup) => this.#limits[group] - this.#counts[group]
    const freeForFailing = (group: MessageGroup) => Math.floor(this.#limits[group] / 2) - heldIn[group]
    return {
      free: { notifications: free('notifications'), verifications: free('verifications') },
      freeForFailing: {
        notifications: freeForFailing('notifications'),
        verifications: freeForFailing('verifications'),
      },
      taken,
      held,
      slow: [...slow],
      quick: [...this.#quick],
    }
  }

  /** Takes a slot. The returned function gives it back when the request has ended. */
  take(queues: MessageQueues, isFailing: boolean, now: number): (end: RequestEnd) => void {
    const request = { queues, group: messageGroup(queues), sentAt: now, isFailing }
    this.#requests.add(request)
    this.#counts[request.group] += 1
    return ({ isAnswered, now: endedAt }) => {
      if (!this.#requests.delete(request)) return
      this.#counts[request.group] -= 1
      if (request.group === 'verifications') return
      this.#quick.delete(queues.host)
      if (!isAnswered || endedAt - now > QUICK_MILLISECONDS) return
      this.#quick.add(queues.host)
      const [oldest] = this.#quick
      if (this.#quick.size > MAX_QUICK_HOSTS && oldest !== undefined) this.#quick.delete(oldest)
    }
  }
}
