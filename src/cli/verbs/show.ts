/**
 * Responses as text. For programs that read a pipe: one object as lines of name and value, a list as a table, with the
 * fields and values of the API. For people at a terminal the same, made to fit its width and to be read.
 */
import type { Client } from '../../client/index.ts'
import { type Paint, paintFor } from '../terminal/colour.ts'
import { printable } from '../terminal/printable.ts'
import { FittedTable } from '../terminal/table.ts'
import { displayWidth, widthOfTerminal, wrap } from '../terminal/width.ts'
import { Names } from './names.ts'
import {
  type Environment,
  formatCell,
  objectValue,
  type Row,
  referencesIn,
  toColumn,
} from './presentation.ts'
import type { Verb } from './verb.ts'

/** Turns responses into text. A list may come page by page. */
export interface Presenter {
  /** An answer that is no page. A list or several objects are a table on a terminal. */
  objects(rows: readonly Row[], isList: boolean): Promise<string>
  page(rows: readonly Row[]): Promise<string>
}

interface PresenterOptions {
  readonly client: Client
  readonly utc: boolean
  /** Where the text is written. */
  readonly out?: Parameters<typeof widthOfTerminal>[0]
  /** Kept from one repaint of a list to the next. */
  readonly names?: Names
}

/** The presenter for the terminal, or for whatever reads standard output. */
export function presenterFor(verb: Pick<Verb, 'columns' | 'terminalColumns'>, options: PresenterOptions) {
  const out = options.out ?? process.stdout
  const width = widthOfTerminal(out)
  if (width === undefined) return plainPresenter(verb.columns, paintFor(out))
  const names = options.names ?? new Names(options.client)
  const around = { utc: options.utc, now: Date.now(), nameOf: names.of.bind(names) }
  return terminalPresenter(verb.terminalColumns ?? verb.columns, {
    width,
    paint: paintFor(out),
    names,
    around,
  })
}

function plainPresenter(columns: readonly string[] | undefined, paint: Paint): Presenter {
  const table = new PlainTable(columns, paint)
  return { objects: async rows => rows.map(plainObject).join('\n'), page: async rows => table.page(rows) }
}

/** One field per line. */
function plainObject(row: Row): string {
  const names = Object.keys(row)
  const width = Math.max(...names.map(name => name.length))
  return names.map(name => `${name.padEnd(width)}  ${printable(row[name])}\n`).join('')
}

/** The first page determines the widths of the columns; later values may exceed them. */
class PlainTable {
  readonly #columns: readonly string[] | undefined
  readonly #paint: Paint
  #widths: Map<string, number> | undefined

  constructor(columns: readonly string[] | undefined, paint: Paint) {
    this.#columns = columns
    this.#paint = paint
  }

  page(rows: readonly Row[]): string {
    const [first] = rows
    if (first === undefined) return ''
    const columns = this.#columns ?? Object.keys(first)
    const lines = rows.map(row => columns.map(name => printable(row[name])))
    const headings = columns.map(name => name.replaceAll('_', ' ').toUpperCase())
    const isFirst = this.#widths === undefined
    this.#widths ??= new Map(
      columns.map((name, index) => [
        name,
        Math.max(...[headings, ...lines].map(line => line[index]?.length ?? 0)),
      ]),
    )
    const widths = this.#widths
    const joinCells = (line: readonly string[]) =>
      line
        .map((text, index) => text.padEnd(widths.get(columns[index] ?? '') ?? 0))
        .join('  ')
        .trimEnd()
    const texts = lines.map(joinCells)
    if (isFirst) texts.unshift(this.#paint(joinCells(headings), 'dim'))
    return texts.map(text => `${text}\n`).join('')
  }
}

interface Terminal {
  readonly width: number
  readonly paint: Paint
  readonly names: Names
  readonly around: Environment
}

function terminalPresenter(given: readonly string[] | undefined, terminal: Terminal): Presenter {
  const { width, paint, names, around } = terminal
  let columns = given
  let table: FittedTable | undefined
  const page = async (rows: readonly Row[]) => {
    columns ??= Object.keys(rows[0] ?? {})
    const fields = columns
    await names.load(rows.flatMap(row => referencesIn(row, fields)))
    table ??= new FittedTable(fields.map(toColumn), width, paint)
    return table.page(rows.map(row => fields.map(name => formatCell(name, row, around))))
  }
  return {
    objects: async (rows, isList) => {
      const [row] = rows
      if (row === undefined || rows.length > 1 || isList) return page(rows)
      await names.load(referencesIn(row, Object.keys(row)))
      return terminalObject(row, terminal)
    },
    page,
  }
}

/** One field per line; a long text continues below its beginning. */
function terminalObject(row: Row, { width, paint, around }: Terminal): string {
  const fields = Object.keys(row)
  const labels = fields.map(name => name.replaceAll('_', ' '))
  const indent = Math.max(...labels.map(displayWidth)) + 2
  return fields
    .map((name, index) => {
      const form = objectValue(name, row, around)
      const label = paint((labels[index] ?? '').padEnd(indent), 'dim')
      const [only] = form
      const value =
        form.length > 1 || only === undefined
          ? form.map(({ text, style }) => paint(text, style)).join('')
          : wrap(only.text, width - indent)
              .map(line => paint(line, only.style))
              .join(`\n${' '.repeat(indent)}`)
      return `${label}${value}\n`
    })
    .join('')
}
