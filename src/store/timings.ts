/** Durations of commands and queries, and outcomes of commands. */

import { Histogram, SECONDS } from '../kit/telemetry/histogram.ts'
import type { Metrics } from '../kit/telemetry/metrics.ts'
import { type CommandName, commands } from './command-list.ts'
import type { Database } from './database.ts'
import { Conflict, Unavailable } from './errors.ts'

const OUTCOMES = ['done', 'unavailable', 'conflict', 'failed'] as const
type Outcome = (typeof OUTCOMES)[number]

interface CommandTiming {
  readonly seconds: Histogram
  readonly outcomes: Record<Outcome, number>
}

export class Timings {
  readonly #queries = new Histogram(SECONDS)
  readonly #commands = new Map(
    (Object.keys(commands) as CommandName[]).map(name => [name, freshTiming()] as const),
  )

  /** The same database, with query durations measured. One that reads at once has read when it returns its promise. */
  timed(db: Database, { readsAtOnce }: { readonly readsAtOnce: boolean }): Database {
    const time = readsAtOnce ? this.#timeReturn : this.#timeAnswer
    return {
      all: query => time(performance.now(), db.all(query)),
      get: query => time(performance.now(), db.get(query)),
    }
  }

  async run<T>(name: CommandName, work: () => Promise<T>): Promise<T> {
    const began = performance.now()
    try {
      const result = await work()
      this.#end(name, began, 'done')
      return result
    } catch (error) {
      this.#end(name, began, classifyOutcome(error))
      throw error
    }
  }

  measure(metrics: Metrics): void {
    const used = [...this.#commands].filter(([, { seconds }]) => seconds.count > 0)
    metrics.histogram(
      'strand_store_command_duration_seconds',
      'Time from the request for a command until it was durable, by command.',
      used.map(([command, { seconds }]) => [{ command }, seconds]),
    )
    metrics.counter(
      'strand_store_commands_total',
      'Commands, by name and outcome.',
      used.flatMap(([command, { outcomes }]) =>
        OUTCOMES.map(outcome => [{ command, outcome }, outcomes[outcome]] as const),
      ),
    )
    metrics.histogram('strand_store_query_duration_seconds', 'Duration of queries.', this.#queries)
  }

  #timeReturn = <T>(began: number, answer: Promise<T>): Promise<T> => {
    this.#queries.note((performance.now() - began) / 1000)
    return answer
  }

  #timeAnswer = <T>(began: number, answer: Promise<T>): Promise<T> => {
    const note = () => this.#queries.note((performance.now() - began) / 1000)
    answer.then(note, note)
    return answer
  }

  #end(name: CommandName, began: number, outcome: Outcome): void {
    const timing = this.#commands.get(name)
    if (timing === undefined) return
    timing.seconds.note((performance.now() - began) / 1000)
    timing.outcomes[outcome] += 1
  }
}

function freshTiming(): CommandTiming {
  return { seconds: new Histogram(SECONDS), outcomes: { done: 0, unavailable: 0, conflict: 0, failed: 0 } }
}

function classifyOutcome(error: unknown): Outcome {
  if (error instanceof Unavailable) return 'unavailable'
  return error instanceof Conflict ? 'conflict' : 'failed'
}
