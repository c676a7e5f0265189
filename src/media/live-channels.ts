/**
 * The broadcasts of this process, by the login of the channel and by the id of the broadcast, which is new for every connection
 * of a publisher. One that has ended can be read for a minute, so that players see its end.
 */
import { NetworkShares } from '../kit/queues/network-shares.ts'
import type { Metrics } from '../kit/telemetry/metrics.ts'
import { type Answer, Answers } from './answers.ts'
import { Packager } from './hls/packager.ts'
import { MediaMemory } from './media-memory.ts'
import { readPacket } from './packet.ts'
import type { MediaMessage } from './rtmp/publisher.ts'

/** Requests that wait, over all broadcasts (D-258). */
const MAX_WAITING = 5000
const ENDED_MILLISECONDS = 60_000
/** A client that takes nothing for so long is disconnected; the longest wait is shorter. */
const IDLE_SECONDS = 20
const DEFAULT_MEMORY_MEBIBYTES = 1024
/** A broadcast is begun if at least a group of pictures of usual size fits. */
const BROADCAST_BYTES = 2 * 1024 * 1024

export interface Broadcast {
  readonly id: string
  readonly user_id: string
  readonly packager: Packager
  publish(message: MediaMessage): void
}

export class LiveChannels {
  readonly #live = new Map<string, Broadcast>()
  /** Also those that have ended. */
  readonly #readable = new Map<string, Broadcast>()
  readonly #removals = new Map<Broadcast, Timer>()
  readonly #waiting = new NetworkShares(MAX_WAITING)
  readonly #answers = new Answers()
  readonly #memory: MediaMemory
  readonly idleSeconds: number
  #received = 0

  constructor({ memoryMebibytes = DEFAULT_MEMORY_MEBIBYTES, idleSeconds = IDLE_SECONDS } = {}) {
    this.#memory = new MediaMemory(memoryMebibytes * 1024 * 1024)
    this.idleSeconds = idleSeconds
  }

  /** Whether there is memory for another broadcast; what others need not keep is removed first (D-257). */
  hasRoom(): boolean {
    const isFull = () => this.#memory.used + BROADCAST_BYTES > this.#memory.limit
    if (isFull()) for (const { packager } of this.#readable.values()) packager.trim()
    return !isFull()
  }

  /**
   * Starts a broadcast, and ends the previous one of the channel.
   *
   * @param onTooLarge called once if its bit rate does not fit into the memory of a channel
   */
  start(
    login: string,
    { id, user_id, onTooLarge }: { id: string; user_id: string; onTooLarge: () => void },
  ): Broadcast {
    this.#end(this.#live.get(login))
    this.#forgetEnded(user_id)
    let isTooLarge = false
    const packager = new Packager({
      memory: this.#memory,
      onTooLarge: () => {
        if (!isTooLarge) onTooLarge()
        isTooLarge = true
      },
    })
    const publish = (message: MediaMessage) => {
      this.#received += message.payload.length
      const packet = isTooLarge ? undefined : readPacket(message)
      if (packet !== undefined) packager.publish(packet)
    }
    const broadcast = { id, user_id, packager, publish }
    this.#live.set(login, broadcast)
    this.#readable.set(id, broadcast)
    return broadcast
  }

  /** The channel of a broadcast has another login. */
  rename(login: string, broadcast: Broadcast, next: string): void {
    if (this.#live.get(login) === broadcast) this.#live.delete(login)
    const replaced = this.#live.get(next)
    if (replaced !== broadcast) this.#end(replaced)
    this.#live.set(next, broadcast)
  }

  end(login: string, broadcast: Broadcast): void {
    if (this.#live.get(login) === broadcast) this.#live.delete(login)
    this.#end(broadcast)
  }

  /** Ends the broadcasts of a user who was suspended: not even their end can be read. */
  removeUser(user_id: string): void {
    const isOfUser = (broadcast: Broadcast) => broadcast.user_id === user_id
    for (const [login, broadcast] of this.#live) if (isOfUser(broadcast)) this.#live.delete(login)
    for (const broadcast of [...this.#readable.values()].filter(isOfUser)) this.#remove(broadcast)
  }

  /** Ends all broadcasts, and with them the requests that wait for more. */
  endAll(): void {
    for (const timer of this.#removals.values()) clearTimeout(timer)
    for (const { packager } of this.#readable.values()) packager.end()
    for (const map of [this.#live, this.#removals]) map.clear()
  }

  measure(metrics: Metrics): void {
    metrics.gauge('strand_media_broadcasts', 'Broadcasts that this process receives.', this.#live.size)
    metrics.gauge(
      'strand_media_waiting_requests',
      'Requests that wait for the next part of a broadcast.',
      this.#waiting.taken,
    )
    metrics.gauge('strand_media_memory_bytes', 'Audio and video of broadcasts in memory.', this.#memory.used)
    metrics.counter('strand_media_received_bytes_total', 'Bytes of audio and video received.', this.#received)
  }

  /** The running broadcast of a channel. */
  find(login: string): Broadcast | undefined {
    return this.#live.get(login)
  }

  /** A broadcast of a channel that is running, or ended a short time ago. */
  findById(id: string): Broadcast | undefined {
    return this.#readable.get(id)
  }

  /** Takes a place among the requests that wait; returns how to leave it, or undefined if there is none. */
  takePlace(address: string): (() => void) | undefined {
    return this.#waiting.take(address)
  }

  /** A part or a segment is being sent. */
  sending(answer: Answer, { packager }: Broadcast, sequence: number): void {
    this.#answers.add(answer, () => packager.has(sequence))
  }

  /** Of a channel whose publisher reconnects again and again, the last broadcast can still be read. */
  #forgetEnded(user_id: string): void {
    const ended = [...this.#removals.keys()].filter(broadcast => broadcast.user_id === user_id)
    for (const broadcast of ended.slice(0, -1)) this.#remove(broadcast)
  }

  #remove(broadcast: Broadcast): void {
    clearTimeout(this.#removals.get(broadcast))
    this.#removals.delete(broadcast)
    this.#readable.delete(broadcast.id)
    broadcast.packager.close()
  }

  #end(broadcast: Broadcast | undefined): void {
    if (broadcast === undefined || broadcast.packager.hasEnded) return
    broadcast.packager.end()
    const timer = setTimeout(() => this.#remove(broadcast), ENDED_MILLISECONDS)
    timer.unref()
    this.#removals.set(broadcast, timer)
  }
}
