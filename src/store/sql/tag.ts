/**
 * SQL text for both engines. A query is a template with values; values may be other SQL fragments, lists, or whole tables of
 * values, and the differences between the engines are resolved when the query is rendered.
 */
import { must } from '../../kit/must.ts'

export type Scalar = string | number | null | Uint8Array

export type Part = Scalar | boolean | Sql | DialectSql

/** A UUID as the engine returns it: SQLite has no type for it. */
export type StoredUuid = string | Uint8Array

export class Sql {
  readonly strings: readonly string[]
  readonly parts: readonly Part[]

  constructor(strings: readonly string[], parts: readonly Part[]) {
    this.strings = strings
    this.parts = parts
  }
}

/** A fragment, or a value, that each engine renders differently. */
class DialectSql {
  readonly write: (dialect: Dialect) => Sql | Scalar

  constructor(write: (dialect: Dialect) => Sql | Scalar) {
    this.write = write
  }
}

/** The differences between the engines. Everything else is the same text. */
export interface Dialect {
  readonly name: 'sqlite' | 'postgres'
  /** The placeholder of the n-th bound value, counted from 1. */
  mark(n: number): string
  /** The type of a text column that is compared, ordered or looked up: byte order on both engines. */
  readonly key: string
  /** A primary key that counts up by itself. */
  readonly serial: string
  /** Ends a select whose rows this transaction will change. */
  readonly lockRows: string
  /** The same, leaving out rows that another transaction is changing. */
  readonly lockFreeRows: string
  /** In an insert that also gives the numbers that a `serial` column would count. */
  readonly givenNumbers: string
  /** Milliseconds since 1970 by the engine's clock. */
  readonly clock: string
  /** The type of a UUID column: 16 bytes on both engines, in the order of the text. */
  readonly uuid: string
  /** Ends the definition of a table whose rows are stored in the order of the primary key, where the engine can do that. */
  readonly inKeyOrder: string
  /** A UUID of a text expression. */
  asUuid(text: Sql): Sql
  uuidValue(uuid: string): Sql | Scalar
  isOneOf(column: Sql, values: readonly string[]): Sql
  isOneOfUuids(column: Sql, values: readonly StoredUuid[]): Sql
  /** The first rows of several selects combined; `tail` is the order and the limit. */
  merged(branches: readonly Sql[], tail: Sql): Sql
  /** A table of values. Its columns are text, whatever the type of the values. */
  table(rows: readonly Readonly<Record<string, Scalar>>[], columns: readonly string[]): Sql
}

export function sql(strings: TemplateStringsArray, ...parts: Part[]): Sql {
  return new Sql(strings, parts)
}

/** Text from the program, never from its input: fragments are cached by text. */
export function verbatim(text: string): Sql {
  const known = verbatims.get(text)
  if (known !== undefined) return known
  const piece = new Sql([text], [])
  verbatims.set(text, piece)
  return piece
}

const verbatims = new Map<string, Sql>()

/** Joins fragments or values with a separator. */
export function joined(parts: readonly Part[], separator: ', ' | ' and ' | ' union all '): Sql {
  return new Sql(seams(separator, parts.length), parts)
}

/** Cached by length, because a template is identified by its strings array. */
function seams(separator: string, count: number): readonly string[] {
  const known = seamsKept.get(separator) ?? []
  seamsKept.set(separator, known)
  known[count] ??= ['', ...new Array<string>(count - 1).fill(separator), '']
  return known[count]
}

const seamsKept = new Map<string, (readonly string[])[]>()

export function isOneOf(column: Sql, values: readonly string[]): Sql | DialectSql {
  const [only] = values
  if (only !== undefined && values.length === 1) return sql`${column} = ${only}`
  return new DialectSql(dialect => dialect.isOneOf(column, values))
}

/** The UUID that a text expression spells. */
export function asUuid(text: Sql): DialectSql {
  return new DialectSql(dialect => dialect.asUuid(text))
}

/** A UUID as a bound value: SQLite would convert a text for every row that it compares. As bytes if SQLite returned it. */
export function uuidValue(uuid: StoredUuid): DialectSql | Uint8Array {
  return typeof uuid === 'string' ? new DialectSql(dialect => dialect.uuidValue(uuid)) : uuid
}

/** The same for a column of UUIDs. The values are UUIDs. */
export function isOneOfUuids(column: Sql, values: readonly StoredUuid[]): Sql | DialectSql {
  const [only] = values
  if (only !== undefined && values.length === 1) return sql`${column} = ${uuidValue(only)}`
  return new DialectSql(dialect => dialect.isOneOfUuids(column, values))
}

/** The first rows of several selects combined, reading no more of each than needed. */
export function merged(branches: readonly Sql[], tail: Sql): Sql | DialectSql {
  const [only] = branches
  if (only !== undefined && branches.length === 1) return sql`${only}${tail}`
  return new DialectSql(dialect => dialect.merged(branches, tail))
}

/** A row of a table of values. */
export type TableRow = Readonly<Record<string, Scalar>>

export function tableOf<Row extends TableRow>(
  rows: readonly Row[],
  columns: readonly (keyof Row & string)[],
): DialectSql {
  return new DialectSql(dialect => dialect.table(rows, columns))
}

export const lockRows = new DialectSql(dialect => verbatim(dialect.lockRows))

export const lockFreeRows = new DialectSql(dialect => verbatim(dialect.lockFreeRows))

export const givenNumbers = new DialectSql(dialect => verbatim(dialect.givenNumbers))

/** Milliseconds since 1970 by the clock of the store, which all processes share. */
export const storeClock = new DialectSql(dialect => verbatim(dialect.clock))

/** A column as an expression that no index matches, to keep the planner from choosing one. */
export function notByIndex(column: string): Sql {
  return verbatim(`(${column} || '')`)
}

/** `a and b and c`; true if there are no conditions. */
export function all(conditions: readonly Sql[]): Sql {
  return conditions.length === 0 ? verbatim('1 = 1') : joined(conditions, ' and ')
}

/**
 * Limits the rows. SQLite inspects the number bound to a bare placeholder and recompiles the statement on each binding,
 * which costs more than most queries; it does not look into a cast.
 */
export function limitedTo(rows: number): Sql {
  return sql` limit cast(${rows} as integer)`
}

interface Rendered {
  readonly text: string
  readonly values: Scalar[]
}

/**
 * Query shapes, as a tree. A query is a template whose gaps hold values or further templates: traversing it in order gives a
 * path, and two queries with the same path have the same text. So each text is built once, and later a query only costs the
 * traversal that collects its values. The strings of a template are one object per place in the program, so there are as
 * many paths as kinds of queries.
 */
class Shape {
  text: string | undefined
  #behindValue: Shape | undefined
  readonly #behindTemplate = new Map<readonly string[], Shape>()

  value(): Shape {
    this.#behindValue ??= new Shape()
    return this.#behindValue
  }

  template(strings: readonly string[]): Shape {
    const known = this.#behindTemplate.get(strings)
    if (known !== undefined) return known
    const shape = new Shape()
    this.#behindTemplate.set(strings, shape)
    return shape
  }
}

const shapes = { sqlite: new Shape(), postgres: new Shape() }

export function render(query: Sql, dialect: Dialect): Rendered {
  const values: Scalar[] = []
  const shape = walk(query, dialect, shapes[dialect.name], values)
  shape.text ??= write(query, dialect, { marks: 0 })
  return { text: shape.text, values }
}

/** Follows the query from shape to shape, and collects its values. */
function walk({ strings, parts }: Sql, dialect: Dialect, from: Shape, values: Scalar[]): Shape {
  let shape = from.template(strings)
  for (const part of parts) {
    const piece = part instanceof DialectSql ? part.write(dialect) : part
    if (piece instanceof Sql) shape = walk(piece, dialect, shape, values)
    else {
      shape = shape.value()
      values.push(asScalar(piece))
    }
  }
  return shape
}

function write({ strings, parts }: Sql, dialect: Dialect, count: { marks: number }): string {
  let text = must(strings[0], 'the first string of a statement')
  for (const [index, part] of parts.entries()) {
    const piece = part instanceof DialectSql ? part.write(dialect) : part
    if (piece instanceof Sql) text += write(piece, dialect, count)
    else {
      count.marks += 1
      text += dialect.mark(count.marks)
    }
    text += must(strings[index + 1], 'a string of a statement')
  }
  return text
}

/** Checked, because the client of SQLite takes an object for named parameters, and binds nothing. */
function asScalar(part: Scalar | boolean): Scalar {
  if (typeof part === 'string' || typeof part === 'number' || part === null) return part
  if (typeof part === 'boolean') return Number(part)
  if (part instanceof Uint8Array) return part
  throw new TypeError(`a statement cannot have a value of type ${typeof part}`)
}
