/**
 * Combines statements of commands that run side by side in one transaction. When all of them wait, each kind of statement is
 * sent once for all that asked for it: starting a hundred streams takes as many round trips as starting one.
 *
 * Rows that another transaction holds are left out instead of waited for, so that one of them does not delay a whole group.
 * The command then looks as if the row did not exist, and refuses: a refusal inside a group is not final.
 */
import { type Lookup, lookupQuery, type RowWrite, runWrite } from '../combinable.ts'
import type { Transaction } from '../database.ts'
import { lockFreeRows } from '../sql/tag.ts'

interface Waiting<Input = never> {
  readonly input: Input
  resolve(answer: unknown): void
  reject(error: unknown): void
}

/** A statement, and the commands that wait for it. */
interface Combined<Input = never> {
  readonly waiting: Waiting<Input>[]
  /** Returns the answer for each input. */
  send(inputs: readonly Input[]): Promise<(input: Input) => unknown>
}

export class Combiner implements Pick<Transaction, 'lookUp' | 'write'> {
  readonly #db: Pick<Transaction, 'all' | 'run'>
  /** By statement, in the order in which they were first asked for. */
  #statements = new Map<object, Combined>()

  constructor(db: Pick<Transaction, 'all' | 'run'>) {
    this.#db = db
  }

  lookUp<Row>(lookup: Lookup<Row>, values: readonly string[]): Promise<Row[]> {
    return this.#ask(lookup, values, async inputs => {
      const rows = await this.#db.all<Row>(lookupQuery(lookup, [...new Set(inputs.flat())], lockFreeRows))
      const found = Map.groupBy(rows, row => row[lookup.column] as string)
      // Each command gets copies, as it would alone: it may change its rows.
      return values =>
        [...new Set(values)].flatMap(value => (found.get(value) ?? []).map(row => ({ ...row })))
    })
  }

  write<Row>(write: RowWrite<Row>, row: Row): Promise<void> {
    return this.#ask(write, row, async rows => {
      await runWrite(this.#db, write, rows)
      return () => undefined
    })
  }

  #ask<Input, Answer>(
    statement: object,
    input: Input,
    send: (inputs: readonly Input[]) => Promise<(input: Input) => Answer>,
  ): Promise<Answer> {
    // When this turn of the event loop ends, all commands wait.
    if (this.#statements.size === 0) setImmediate(() => this.#sendAll())
    const known = this.#statements.get(statement) as Combined<Input> | undefined
    const combined: Combined<Input> = known ?? { waiting: [], send }
    if (known === undefined) this.#statements.set(statement, combined as unknown as Combined)
    return new Promise<Answer>((resolve, reject) => {
      combined.waiting.push({ input, resolve: answer => resolve(answer as Answer), reject })
    })
  }

  /** Sends all statements without waiting in between. The server runs them one after another. */
  #sendAll(): void {
    const statements = this.#statements
    this.#statements = new Map()
    for (const { waiting, send } of statements.values()) {
      send(waiting.map(({ input }) => input)).then(
        answer => {
          for (const { input, resolve } of waiting) resolve(answer(input))
        },
        error => {
          for (const { reject } of waiting) reject(error)
        },
      )
    }
  }
}
