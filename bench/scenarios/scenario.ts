import type { BenchWorld } from '../world/world.ts'

/** One request, as the load generators send it. */
export interface BenchRequest {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly token?: string
  readonly body?: unknown
}

export function headersOf({ token, body }: BenchRequest): Record<string, string> {
  return {
    ...(token !== undefined && { Authorization: `Bearer ${token}` }),
    ...(body !== undefined && { 'Content-Type': 'application/json' }),
  }
}

/**
 * What a scenario is held against: the bare server, the least server, or a bare SQLite loop on the same disk that commits
 * one marker or one batch of entitlements at a time.
 */
type Baseline = 'bare server' | 'bare server with headers' | 'least server' | 'marker loop' | 'update loop'

export interface Goal {
  readonly against: Baseline
  /** Requests/s of Strand divided by those of the baseline; absent where no goal is set. */
  readonly atLeast?: number
}

/** Asks the server while a scenario is prepared, for cursors that only it can make. */
export type AskServer = (request: BenchRequest) => Promise<AnsweredPage>

interface AnsweredPage {
  readonly total?: number
  readonly data?: readonly unknown[]
  readonly pagination?: { readonly cursor?: string }
}

/** One kind of work, prepared from the bench world and sent around in a circle. */
export interface Scenario {
  readonly name: string
  readonly work: string
  readonly goals: readonly [Goal, ...Goal[]]
  readonly connections: number
  /** The size of the world matters to it: it is also measured in smaller ones. */
  readonly grows?: boolean
  /** It is also measured while 32 connections write. */
  readonly besideWriters?: boolean
  /** The type of its answers; default: JSON. */
  readonly mediaType?: string
  prepare(world: BenchWorld, ask: AskServer): Promise<readonly BenchRequest[]>
  /** What an answer must look like to count as the work. Answers that are not JSON have the right type and are not empty. */
  isRight?(answer: AnsweredPage): boolean
}

export function goalText({ against, atLeast }: Goal): string {
  return atLeast === undefined ? 'none' : `>= ${atLeast} of ${against}`
}
