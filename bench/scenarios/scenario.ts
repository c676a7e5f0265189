import type { BenchRequest } from '../load/request.ts'
import type { BenchWorld } from '../world/world.ts'

/**
 * What a scenario is compared with: the bare server, the least server, or a bare SQLite loop on the same disk that commits
 * one marker or one batch of entitlements at a time.
 */
export type Baseline = 'bare server' | 'least server' | 'marker loop' | 'update loop'

/** The goal of every read that the least server has. */
export const OF_LEAST = 0.85

/** Asks the server while a scenario is prepared, for cursors that only it can make. */
export type AskServer = (request: BenchRequest) => Promise<AnsweredPage>

interface AnsweredPage {
  readonly total?: number
  readonly data?: readonly unknown[]
  readonly pagination?: { readonly cursor?: string }
}

/** One kind of work, prepared from the world and sent in a circle by 32 connections. */
export interface Scenario {
  readonly name: string
  readonly work: string
  /** The baselines, each with the least ratio of Strand's requests/s to theirs; undefined where no goal is set. */
  readonly goals: Readonly<Partial<Record<Baseline, number | undefined>>>
  /** The size of the world matters to it: it is also measured in a small one. */
  readonly grows?: boolean
  /** It is also measured while 32 connections write. */
  readonly besideWriters?: boolean
  /** It is also measured with the writer thread on another core than the rest of the server. */
  readonly onAllCores?: boolean
  prepare(world: BenchWorld, ask: AskServer): Promise<readonly BenchRequest[]>
  /** What an answer must look like to count as the work. */
  isRight(answer: AnsweredPage): boolean
}
