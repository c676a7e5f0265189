/** Responses for people: one object as lines of name and value, a list as a table. */

type Row = Readonly<Record<string, unknown>>

/** One field per line. */
export function showObject(row: Row): string {
  const names = Object.keys(row)
  const width = Math.max(...names.map(name => name.length))
  return names.map(name => `${name.padEnd(width)}  ${textOf(row[name])}\n`).join('')
}

/** Formats a list page by page. The first page determines the widths of the columns; later values may exceed them. */
export class Table {
  readonly #columns: readonly string[] | undefined
  #widths: Map<string, number> | undefined

  constructor(columns: readonly string[] | undefined) {
    this.#columns = columns
  }

  page(rows: readonly Row[]): string {
    const [first] = rows
    if (first === undefined) return ''
    const columns = this.#columns ?? Object.keys(first)
    const lines: Row[] = rows.map(row => Object.fromEntries(columns.map(name => [name, textOf(row[name])])))
    if (this.#widths === undefined) {
      lines.unshift(Object.fromEntries(columns.map(name => [name, headingOf(name)])))
      this.#widths = widthsOf(columns, lines)
    }
    const widths = this.#widths
    return lines
      .map(line => columns.map(name => String(line[name]).padEnd(widths.get(name) ?? 0)).join('  '))
      .map(line => `${line.trimEnd()}\n`)
      .join('')
  }
}

function widthsOf(columns: readonly string[], lines: readonly Row[]): Map<string, number> {
  return new Map(columns.map(name => [name, Math.max(...lines.map(line => String(line[name]).length))]))
}

const headingOf = (name: string) => name.replaceAll('_', ' ').toUpperCase()

/** Escapes control characters, which users may have put into a text and a terminal would interpret. */
export function textOf(value: unknown): string {
  if (value === undefined || value === null || value === '') return '-'
  if (Array.isArray(value)) return value.length === 0 ? '-' : value.map(textOf).join(', ')
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
  return text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, character => {
    return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`
  })
}
