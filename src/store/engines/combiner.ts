/**
 * Combines statements of commands that run side by side in one transaction. When all of them wait, each kind of statement is
 * sent once for all that asked for it: starting a hundred streams takes as many round trips as starting one.
 *
 * Rows that another transaction holds are left out instead of waited for, so that one of them does not delay a whole group.
 * The command then looks as if the row did not exist, and refuses: a refusal inside a group is not final.
 */
import { type Lookup, lookupQuery, type RowWrite } from '../combinable.ts'
import type { Transaction } from '../database.ts'
import { lockFreeRows } from '../sql/tag.ts'
import type { Writable } from './run-command.ts'

interface Waiting<Input> {
  readonly input: Input
  resolve(answer: unknown): void
  reject(error: unknown): void
}

type Waits<Statement, Input> = Map<Statement, Waiting<Input>[]>

export class Combiner implements Pick<Transaction, 'rowsOf' | 'write'> {
  readonly #db: Writable
  #lookups: Waits<Lookup<Readonly<Record<string, unknown>>>, readonly string[]> = new Map()
  #writes: Waits<RowWrite<unknown>, unknown> = new Map()

  constructor(db: Writable) {
    this.#db = db
  }

  rowsOf<Row>(lookup: Lookup<Row>, values: readonly string[]): Promise<Row[]> {
    return this.#wait(this.#lookups, lookup as never, values) as Promise<Row[]>
  }

  async write<Row>(write: RowWrite<Row>, row: Row): Promise<void> {
    await this.#wait(this.#writes, write as never, row)
  }

  #wait<Statement, Input>(
    waits: Waits<Statement, Input>,
    statement: Statement,
    input: Input,
  ): Promise<unknown> {
    // When this turn of the event loop ends, all commands wait.
    if (this.#lookups.size + this.#writes.size === 0) setImmediate(() => this.#send())
    return new Promise((resolve, reject) => {
      const waiting = { input, resolve, reject }
      const others = waits.get(statement)
      if (others === undefined) waits.set(statement, [waiting])
      else others.push(waiting)
    })
  }

  /** Statements are sent together and run one after another. */
  #send(): void {
    const [lookups, writes] = [this.#lookups, this.#writes]
    this.#lookups = new Map()
    this.#writes = new Map()
    for (const [lookup, waiting] of lookups) {
      settle(waiting, this.#find(lookup, waiting))
    }
    for (const [write, waiting] of writes) {
      const rows = waiting.map(({ input }) => input)
      settle(
        waiting,
        Promise.resolve(this.#db.run(write(rows))).then(() => () => undefined),
      )
    }
  }

  async #find<Row extends Readonly<Record<string, unknown>>>(
    lookup: Lookup<Row>,
    waiting: readonly Waiting<readonly string[]>[],
  ): Promise<(values: readonly string[]) => Row[]> {
    const values = [...new Set(waiting.flatMap(({ input }) => input))]
    const rows = await this.#db.all<Row>(lookupQuery(lookup, values, lockFreeRows))
    const found = Map.groupBy(rows, row => row[lookup.column] as string)
    return values => values.flatMap(value => found.get(value) ?? [])
  }
}

function settle<Input>(waiting: readonly Waiting<Input>[], sent: Promise<(input: Input) => unknown>): void {
  sent.then(
    answer => {
      for (const { input, resolve } of waiting) resolve(answer(input))
    },
    error => {
      for (const { reject } of waiting) reject(error)
    },
  )
}
