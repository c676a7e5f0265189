/**
 * SQL text for both engines. A query is a template with values; values may be other SQL fragments, lists, or whole tables of
 * values, and the differences between the engines are resolved when the query is rendered.
 */
import { assertDefined } from '../../kit/assert-defined.ts'

export type Scalar = string | number | null | Uint8Array

export type Part = Scalar | boolean | Sql | DialectSql | Parameter

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
  readonly write: (dialect: Dialect) => Sql | Scalar | Parameter

  constructor(write: (dialect: Dialect) => Sql | Scalar | Parameter) {
    this.write = write
  }
}

/** The gap of a statement that holds the value of this name. */
export class Parameter {
  readonly name: string
  readonly convert: ((value: Scalar) => Scalar) | undefined

  constructor(name: string, convert?: (value: Scalar) => Scalar) {
    this.name = name
    this.convert = convert
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
  /** Ends a select that locks its rows like `lockRows`, but leaves out rows that another transaction has locked. */
  readonly lockFreeRows: string
  /** Allows an insert to set the numbers of a `serial` column, which the engine otherwise counts. */
  readonly overridingIdentity: string
  /** Milliseconds since 1970 by the engine's clock. */
  readonly clock: string
  /** The type of a UUID column: 16 bytes on both engines, in the order of the text. */
  readonly uuid: string
  /** Ends the definition of a table whose rows are stored in the order of the primary key, where the engine can do that. */
  readonly inKeyOrder: string
  /** A UUID of a text expression. */
  asUuid(text: Sql): Sql
  uuidValue(uuid: string | Parameter): Sql | Scalar | Parameter
  isOneOf(column: Sql, values: readonly string[]): Sql
  isOneOfNumbers(column: Sql, values: readonly number[]): Sql
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

/**
 * Beside the join of a column with a table of these values. With the join alone, PostgreSQL might read the whole table and
 * look for each row among the values, if the table was almost empty when the statement was planned. SQLite would not gain.
 */
export function isJoinedWith(column: Sql, values: readonly string[]): DialectSql {
  return new DialectSql(dialect =>
    dialect.name === 'postgres' ? dialect.isOneOf(column, values) : verbatim('1 = 1'),
  )
}

/** Whether a column of whole numbers has one of these values. */
export function isOneOfNumbers(column: Sql, values: readonly number[]): DialectSql {
  return new DialectSql(dialect => dialect.isOneOfNumbers(column, values))
}

/** The UUID that a text expression spells. */
export function asUuid(text: Sql): DialectSql {
  return new DialectSql(dialect => dialect.asUuid(text))
}

/** A UUID as a bound value: SQLite would convert a text for every row that it compares. As bytes if SQLite returned it. */
export function uuidValue(uuid: StoredUuid | Parameter): DialectSql | Uint8Array {
  return uuid instanceof Uint8Array ? uuid : new DialectSql(dialect => dialect.uuidValue(uuid))
}

/** Whether a column of UUIDs has one of these values. */
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

export function valuesTable<Row extends TableRow>(
  rows: readonly Row[],
  columns: readonly (keyof Row & string)[],
): DialectSql {
  return new DialectSql(dialect => dialect.table(rows, columns))
}

export const lockRows = new DialectSql(dialect => verbatim(dialect.lockRows))

export const lockFreeRows = new DialectSql(dialect => verbatim(dialect.lockFreeRows))

export const overridingIdentity = new DialectSql(dialect => verbatim(dialect.overridingIdentity))

/**
 * Makes the rest of a transaction read along indexes. Without statistics, or with those of another time of day, PostgreSQL
 * would read and sort all rows of a queue instead of its first ones.
 */
export const readAlongIndexes = new Sql(
  ['', ''],
  [
    new DialectSql(({ name }) =>
      verbatim(
        name === 'postgres'
          ? `select ${['bitmapscan', 'sort', 'seqscan', 'hashjoin', 'mergejoin']
              .map(method => `set_config('enable_${method}', 'off', true)`)
              .join(', ')}`
          : 'select 1',
      ),
    ),
  ],
)

/** Milliseconds since 1970 by the clock of the store, which all processes share. */
export const storeClock = new DialectSql(dialect => verbatim(dialect.clock))

/** `a and b and c`; true if there are no conditions. */
export function all(conditions: readonly Sql[]): Sql {
  return conditions.length === 0 ? verbatim('1 = 1') : joined(conditions, ' and ')
}

/**
 * Limits the rows. SQLite inspects the number bound to a bare placeholder and recompiles the statement on each binding,
 * which costs more than most queries; it does not look into a cast.
 */
export function limitedTo(rows: number | Parameter): Sql {
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

/** The values for the parameters of a statement, by name. */
export type StatementValues = Readonly<Record<string, Scalar | undefined>>

/** A query that is built and rendered once, for frequent reads: collecting its values is all that is left for a call. */
export class Statement {
  readonly #query: Sql
  readonly #rendered: Partial<Record<Dialect['name'], Written>> = {}

  constructor(query: Sql) {
    this.#query = query
  }

  in(dialect: Dialect): Written {
    this.#rendered[dialect.name] ??= writeOnce(this.#query, dialect)
    return this.#rendered[dialect.name] as Written
  }
}

/** The text of a statement, and what its marks stand for. */
interface Written {
  readonly text: string
  readonly parameters: readonly Parameter[]
}

/** A statement with values. */
export class StatementCall {
  readonly statement: Statement
  readonly values: StatementValues

  constructor(statement: Statement, values: StatementValues) {
    this.statement = statement
    this.values = values
  }
}

export type Query = Sql | StatementCall

/** A function that calls a statement with values. Every value must be a parameter: one in the SQL text would be the same in all calls. */
export function statement<Name extends string>(
  names: readonly Name[],
  write: (parameters: Readonly<Record<Name, Parameter>>) => Sql,
): (values: Readonly<Record<Name, Scalar>>) => StatementCall {
  const prepared = new Statement(write(createParameters(names)))
  return values => new StatementCall(prepared, values)
}

export function createParameters<Name extends string>(names: readonly Name[]): Record<Name, Parameter> {
  return Object.fromEntries(names.map(name => [name, new Parameter(name)])) as Record<Name, Parameter>
}

export function render(query: Query, dialect: Dialect): Rendered {
  const values: Scalar[] = []
  if (query instanceof StatementCall) {
    const { text, parameters } = query.statement.in(dialect)
    for (const { name, convert } of parameters) {
      const value = query.values[name]
      if (value === undefined) throw new TypeError(`a statement has no value for ${name}`)
      values.push(convert === undefined ? value : convert(value))
    }
    return { text, values }
  }
  const shape = walk(query, dialect, shapes[dialect.name], values)
  shape.text ??= write(query, dialect, () => undefined)
  return { text: shape.text, values }
}

function writeOnce(query: Sql, dialect: Dialect): Written {
  const parameters: Parameter[] = []
  const text = write(query, dialect, part => {
    if (!(part instanceof Parameter)) throw new TypeError('a statement has a value that is not a parameter')
    parameters.push(part)
  })
  return { text, parameters }
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

/** `take` is called for every value, in the order of the marks. */
function write(query: Sql, dialect: Dialect, take: (part: Part) => void): string {
  let marks = 0
  const writePart = ({ strings, parts }: Sql): string => {
    let text = assertDefined(strings[0], 'the first string of a statement')
    for (const [index, part] of parts.entries()) {
      const piece = part instanceof DialectSql ? part.write(dialect) : part
      if (piece instanceof Sql) text += writePart(piece)
      else {
        take(piece)
        marks += 1
        text += dialect.mark(marks)
      }
      text += assertDefined(strings[index + 1], 'a string of a statement')
    }
    return text
  }
  return writePart(query)
}

/** Checked, because the client of SQLite takes an object for named parameters, and binds nothing. */
function asScalar(part: Scalar | boolean | Parameter): Scalar {
  if (typeof part === 'string' || typeof part === 'number' || part === null) return part
  if (typeof part === 'boolean') return Number(part)
  if (part instanceof Uint8Array) return part
  throw new TypeError(`a query cannot have a value of type ${typeof part}`)
}
