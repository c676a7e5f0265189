import type { Statement } from 'bun:sqlite'
import { openSqlite } from '../../../src/store/sqlite/sqlite-connection.ts'

/** Statements on the store, each compiled once. Those that run in one turn of the event loop share a read transaction. */
export class LeastReader {
  readonly #connection: ReturnType<typeof openSqlite>
  readonly #begin: Statement
  readonly #commit: Statement
  #hasView = false

  constructor(storeFile: string) {
    this.#connection = openSqlite(storeFile, 'read')
    this.#begin = this.#connection.prepare('begin')
    this.#commit = this.#connection.prepare('commit')
  }

  all<Row>(text: string): (...values: string[]) => Row[] {
    const statement = this.#connection.prepare(text)
    return (...values) => {
      this.#look()
      return statement.all(...values) as Row[]
    }
  }

  get<Row>(text: string): (...values: string[]) => Row | null {
    const statement = this.#connection.prepare(text)
    return (...values) => {
      this.#look()
      return statement.get(...values) as Row | null
    }
  }

  #look(): void {
    if (this.#hasView) return
    this.#begin.run()
    this.#hasView = true
    setImmediate(() => {
      this.#commit.run()
      this.#hasView = false
    })
  }
}
