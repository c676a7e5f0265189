import type { BenchRequest } from '../load/request.ts'
import type { BenchWorld } from '../world/world.ts'

/** What a scenario is compared with, and the units of results. */
export const BASELINES = {
  usual: 'times the usual server',
  least: 'of the least server',
  bare: 'of the bare server',
} as const
export type Baseline = keyof typeof BASELINES

/** The goals of reads, and of durable writes. */
export const READ = { usual: 1.5, bare: undefined }
export const READ_WITH_LEAST = { ...READ, least: 0.6 }
export const WRITE = { usual: 3, bare: undefined }

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
  /**
   * The baselines, each with the least ratio of its processor time for a request to Strand's; undefined where no goal is set.
   */
  readonly goals: Readonly<Partial<Record<Baseline, number | undefined>>>
  /** The size of the world matters to it: it is also measured in a small one. */
  readonly grows?: boolean
  prepare(world: BenchWorld, ask: AskServer): Promise<readonly BenchRequest[]>
  /** What an answer must look like to count as the work. */
  isRight(answer: AnsweredPage): boolean
}
