/**
 * The columns of a resource, listed once: selects, inserts, updates and the decoding of rows follow from the list. A new
 * column is a line in the list of its resource (`queries/channels.ts`), beside the schema, the contract
 * (`contract/resources/channel.ts`) and its meaning for operators (`contract/admin/fields.ts`); the API, import, export,
 * command line and console follow.
 */
import type { Transaction } from './database.ts'
import { insertRows } from './insert-rows.ts'
import { type Part, type Scalar, Sql, verbatim } from './sql/tag.ts'

/** How a field is stored. */
interface Column {
  /** Default: the name of the field. */
  readonly name?: string
  /** The column as a select reads it; default: its name. */
  readonly select?: string
  readonly read?: (stored: never) => unknown
  readonly write?: (value: never) => Scalar
  /** Set when the row is inserted, never changed. */
  readonly isFixed?: boolean
}

/** Stored as it is. */
export const plain: Column = {}

/** Stored as it is, and never changed. */
export const fixed: Column = { isFixed: true }

/** A boolean, stored as 1 and 0. */
export const flag: Column = {
  read: (stored: number) => stored === 1,
  write: (value: boolean) => (value ? 1 : 0),
}

/** A list, stored as JSON. */
export const json = (name?: string): Column => ({
  ...(name !== undefined && { name }),
  read: (stored: string) => JSON.parse(stored),
  write: (value: unknown) => JSON.stringify(value),
})

/** A reference, empty where the column is null. */
export const reference = (name: string): Column => ({
  select: `coalesce(${name}, '')`,
  write: (value: string) => value || null,
})

/** Columns that are computed from a row, and written with it. */
type Computed<Row> = Readonly<Record<string, (row: Row) => Scalar>>

type StoredRow = Readonly<Record<string, Scalar>>

/** The columns of a table for rows of a resource. The first field is the key. */
export class Columns<Row extends object> {
  readonly table: string
  /** `id, name, coalesce(game_id, '') as game_id`, for selects with further columns. */
  readonly list: Sql
  /** `select id, name from games` */
  readonly select: Sql
  readonly #fields: readonly (readonly [field: string, column: Column])[]
  readonly #computed: readonly (readonly [name: string, value: (row: Row) => Scalar])[]
  readonly #insert: string
  /** The text of an update around its values: a statement is identified by it. */
  readonly #update: readonly string[]

  constructor(
    table: string,
    fields: { readonly [Field in keyof Row]-?: Column },
    computed: Computed<Row> = {},
  ) {
    this.table = table
    this.#fields = Object.entries<Column>(fields)
    this.#computed = Object.entries(computed)
    const list = this.#fields.map(selected).join(', ')
    this.list = verbatim(list)
    this.select = verbatim(`select ${list} from ${table}`)
    const names = [...this.#fields.map(columnName), ...this.#computed.map(([name]) => name)]
    this.#insert = `insert into ${table} (${names.join(', ')}`
    this.#update = this.#updateText()
  }

  /** The fields as they are selected from another name of the table: `u.id, u.login`. */
  from(alias: string): Sql {
    return verbatim(this.#fields.map(([field]) => `${alias}.${field}`).join(', '))
  }

  /** A selected row as the resource. */
  read<Stored extends object>(stored: Stored): Stored & Row {
    const row = { ...stored } as Record<string, unknown>
    for (const [field, { read }] of this.#fields)
      if (read !== undefined) row[field] = read(row[field] as never)
    return row as Stored & Row
  }

  /** Inserts rows. `more` has columns that are no fields. */
  insert(
    tx: Transaction,
    rows: readonly Row[],
    more?: (row: Row, index: number) => StoredRow,
  ): Promise<void> {
    const others = more === undefined ? [] : rows.map(more)
    const extra = Object.keys(others[0] ?? {})
    let index = 0
    return insertRows(tx, `${this.#insert}${extra.map(name => `, ${name}`).join('')})`, rows, row => {
      const values = this.#fields.map(each => this.#value(each, row))
      for (const [, value] of this.#computed) values.push(value(row))
      const other = others[index++]
      for (const name of extra) values.push(other?.[name] ?? null)
      return values
    })
  }

  /** Updates the row with this key: all columns but those that never change. */
  async update(tx: Transaction, row: Row): Promise<void> {
    const [key] = this.#fields
    const values: Part[] = [
      ...this.#changing().map(each => this.#value(each, row)),
      ...this.#computed.map(([, value]) => value(row)),
      ...(key === undefined ? [] : [this.#value(key, row)]),
    ]
    await tx.run(new Sql(this.#update, values))
  }

  #changing() {
    return this.#fields.slice(1).filter(([, { isFixed }]) => !isFixed)
  }

  #value([field, { write }]: readonly [string, Column], row: Row): Scalar {
    const value = (row as Record<string, unknown>)[field]
    return write === undefined ? (value as Scalar) : write(value as never)
  }

  #updateText(): readonly string[] {
    const names = [...this.#changing().map(columnName), ...this.#computed.map(([name]) => name)]
    const [key] = this.#fields
    const sets = names.map((name, index) => `${index === 0 ? `update ${this.table} set ` : ', '}${name} = `)
    return [...sets, ` where ${key === undefined ? '' : columnName(key)} = `, '']
  }
}

const columnName = ([field, { name }]: readonly [string, Column]): string => name ?? field

function selected([field, { name, select }]: readonly [string, Column]): string {
  const column = select ?? name ?? field
  return column === field ? field : `${column} as ${field}`
}
