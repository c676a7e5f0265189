/**
 * SQL as text, written once for both engines. A query is a template with values in it; values may be other pieces of
 * SQL, lists, or whole tables of values, and what differs between the engines is decided when the query is rendered.
 */
export type Scalar = string | number | null

type Part = Scalar | boolean | Sql | Dialect

export class Sql {
  readonly strings: readonly string[]
  readonly parts: readonly Part[]

  constructor(strings: readonly string[], parts: readonly Part[]) {
    this.strings = strings
    this.parts = parts
  }
}

/** A piece that each engine writes in its own way. */
class Dialect {
  readonly write: (flavor: Flavor) => Sql

  constructor(write: (flavor: Flavor) => Sql) {
    this.write = write
  }
}

/** What an engine does differently. Everything else is the same text. */
export interface Flavor {
  readonly name: 'sqlite' | 'postgres'
  /** The mark of the n-th bound value, counted from 1. */
  mark(n: number): string
  /** The type of a text column that is compared, ordered or looked up: byte order on both engines. */
  readonly key: string
  /** Ends a select whose rows this transaction is about to change. */
  readonly lockRows: string
  isOneOf(column: Sql, values: readonly string[]): Sql
  /** A table made of values: its columns are text, whatever was given. */
  table(rows: readonly Readonly<Record<string, Scalar>>[], columns: readonly string[]): Sql
}

export function sql(strings: TemplateStringsArray, ...parts: Part[]): Sql {
  return new Sql(strings, parts)
}

/** Text that is part of the program, never of its input. */
export function verbatim(text: string): Sql {
  return new Sql([text], [])
}

export function isOneOf(column: Sql, values: readonly string[]): Dialect {
  return new Dialect(flavor => flavor.isOneOf(column, values))
}

export function tableOf<Row extends Readonly<Record<string, Scalar>>>(
  rows: readonly Row[],
  columns: readonly (keyof Row & string)[],
): Dialect {
  return new Dialect(flavor => flavor.table(rows, columns))
}

export const lockRows = new Dialect(flavor => verbatim(flavor.lockRows))

/** A column under a guise that no index answers to, where the planner must not be tempted by it. */
export function notByIndex(column: string): Sql {
  return verbatim(`(${column} || '')`)
}

/** `a and b and c`; `true` if there is nothing to ask. */
export function all(conditions: readonly Sql[]): Sql {
  if (conditions.length === 0) return verbatim('1 = 1')
  return new Sql(['', ...conditions.slice(1).map(() => ' and '), ''], conditions)
}

interface Rendered {
  readonly text: string
  readonly values: readonly Scalar[]
}

/** Texts of queries without pieces in them: they are the same each time, but for the values. */
const plainTexts = new WeakMap<readonly string[], Map<Flavor, string>>()

export function render(query: Sql, flavor: Flavor): Rendered {
  const known = plainTexts.get(query.strings)?.get(flavor)
  if (known !== undefined && !query.parts.some(isPiece))
    return { text: known, values: query.parts.map(asScalar) }
  const values: Scalar[] = []
  let isPlain = true
  const write = (piece: Sql): string => {
    let text = piece.strings[0] ?? ''
    piece.parts.forEach((part, index) => {
      if (isPiece(part)) {
        isPlain = false
        text += write(part instanceof Sql ? part : part.write(flavor))
      } else {
        values.push(asScalar(part))
        text += flavor.mark(values.length)
      }
      text += piece.strings[index + 1] ?? ''
    })
    return text
  }
  const text = write(query)
  if (isPlain) {
    const texts = plainTexts.get(query.strings) ?? new Map<Flavor, string>()
    plainTexts.set(query.strings, texts.set(flavor, text))
  }
  return { text, values }
}

function isPiece(part: Part): part is Sql | Dialect {
  return typeof part === 'object' && part !== null
}

function asScalar(part: Part): Scalar {
  return typeof part === 'boolean' ? Number(part) : (part as Scalar)
}
