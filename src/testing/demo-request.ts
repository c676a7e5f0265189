import type { Scenario } from '../client/api.ts'
import type { World } from '../demo/described-world.ts'

/** Options of the demo to start, in this process or as a child process. */
export interface DemoRequest {
  readonly port: number
  readonly seed: number
  readonly streams: number
  readonly clock: { readonly at: number; readonly running: boolean } | undefined
  readonly scenario: string | Scenario | undefined
  readonly strict: boolean
  readonly data: string | undefined
  readonly settings: Readonly<Record<string, string>>
  /** Milliseconds until a child process must serve. */
  readonly startTimeout: number
}

export interface StartedDemo {
  readonly world: World
  stop(): Promise<void>
}
