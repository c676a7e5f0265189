/**
 * Tables that fit a width. A cell has one or more forms, the longest first: a time with or without its year, a name with or
 * without its id. If the longest forms of all cells do not fit, the table uses shorter ones, then cuts columns that may be
 * cut, and last omits columns that may be omitted.
 */
import { type Paint, type Style, withoutColour } from './colour.ts'
import { cut, displayWidth } from './width.ts'

/** A part of a cell with one style. */
export interface Span {
  readonly text: string
  readonly style?: Style | undefined
}

export type Form = readonly Span[]

/** The forms of a cell, the longest first. */
export type Cell = readonly [Form, ...Form[]]

export interface Column {
  readonly heading: string
  readonly align?: 'right'
  /** The width to which it may be cut; default: it is never cut. */
  readonly cutTo?: number
  /** It may be omitted, those with the highest rank first; default: it is never omitted. */
  readonly omitRank?: number
}

const GAP = '  '
/** A text is cut to this width before anything else is shortened: one long title would cost every row its ids. */
const COMFORTABLE_WIDTH = 32

interface Fitted {
  readonly index: number
  readonly column: Column
  readonly form: number
  readonly width: number
}

/** Formats a list page by page. The first page determines the columns and their widths; later values may be cut. */
export class FittedTable {
  readonly #columns: readonly Column[]
  readonly #width: number
  readonly #paint: Paint
  #fitted: readonly Fitted[] | undefined

  constructor(columns: readonly Column[], width: number, paint: Paint = withoutColour) {
    this.#columns = columns
    this.#width = width
    this.#paint = paint
  }

  page(rows: readonly (readonly Cell[])[]): string {
    if (rows.length === 0) return ''
    const isFirst = this.#fitted === undefined
    this.#fitted ??= fit(this.#columns, rows, this.#width)
    const headings = this.#columns.map(({ heading }): Cell => [[{ text: heading, style: 'dim' }]])
    return (isFirst ? [headings, ...rows] : rows).map(row => `${this.#line(row)}\n`).join('')
  }

  #line(row: readonly Cell[]): string {
    const parts: string[] = []
    let spaces = 0
    for (const { index, column, form, width } of this.#fitted ?? []) {
      const cell = row[index] ?? [[]]
      const whole = cell[Math.min(form, cell.length - 1)] ?? []
      const shown = column.cutTo === undefined ? whole : cutForm(whole, width)
      const missing = Math.max(0, width - widthOfForm(shown))
      const painted = shown.map(({ text, style }) => this.#paint(text, style)).join('')
      const [before, after] = column.align === 'right' ? [missing, 0] : [0, missing]
      parts.push(' '.repeat(spaces + before), painted)
      spaces = after + GAP.length
    }
    return parts.join('')
  }
}

function widthOfForm(form: Form): number {
  return form.reduce((sum, { text }) => sum + displayWidth(text), 0)
}

function cutForm(form: Form, width: number): Form {
  if (widthOfForm(form) <= width) return form
  const kept: Span[] = []
  let left = width
  for (const span of form) {
    if (left <= 0) break
    const isLast = span === form.at(-1)
    // A part that fits exactly, before one that does not, leaves no place for the ellipsis.
    const text = isLast || displayWidth(span.text) < left ? cut(span.text, left) : cut(`${span.text} `, left)
    kept.push({ ...span, text })
    left -= displayWidth(text)
    if (text.endsWith('…')) break
  }
  return kept
}

/** Omits as few columns as possible; of what is left, nothing is wider than it has to be. */
function fit(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  width: number,
): readonly Fitted[] {
  const all = columns.map((column, index) => ({ column, index }))
  const ranks = columns.flatMap(({ omitRank }) => omitRank ?? []).sort((a, b) => b - a)
  const measure = (index: number, form: number) =>
    Math.max(
      displayWidth(columns[index]?.heading ?? ''),
      ...rows.map(row => widthOfForm(row[index]?.[Math.min(form, row[index].length - 1)] ?? [])),
    )
  let smallest: Draft[] = []
  for (const limit of [Number.POSITIVE_INFINITY, ...ranks]) {
    const kept = all.filter(({ column }) => (column.omitRank ?? Number.NEGATIVE_INFINITY) < limit)
    smallest = kept.map(each => ({ ...each, form: 0, width: measure(each.index, 0) }))
    cutWidest(smallest, width, COMFORTABLE_WIDTH)
    shorten(smallest, width, rows, measure)
    cutWidest(smallest, width)
    widen(smallest, width, measure)
    if (totalWidth(smallest) <= width) break
  }
  return smallest
}

interface Draft extends Fitted {
  form: number
  width: number
}

const totalWidth = (drafts: readonly Draft[]) =>
  drafts.reduce((sum, { width }) => sum + width, GAP.length * Math.max(0, drafts.length - 1))

/** Takes shorter forms where that saves most, until the table fits or there are none. */
function shorten(
  drafts: readonly Draft[],
  width: number,
  rows: readonly (readonly Cell[])[],
  measure: (index: number, form: number) => number,
): void {
  const mostForms = (index: number) => Math.max(1, ...rows.map(row => row[index]?.length ?? 1))
  while (totalWidth(drafts) > width) {
    const shorter = drafts
      .filter(({ index, form }) => form + 1 < mostForms(index))
      .map(draft => ({ draft, next: Math.min(draft.width, measure(draft.index, draft.form + 1)) }))
      .sort((a, b) => b.draft.width - b.next - (a.draft.width - a.next))
    const [best] = shorter
    if (best === undefined) return
    best.draft.form += 1
    best.draft.width = best.next
  }
}

/** Cuts the widest of the columns that may be cut, column by column, until the table fits. */
function cutWidest(drafts: readonly Draft[], width: number, atLeast = 0): void {
  for (let over = totalWidth(drafts) - width; over > 0; over -= 1) {
    const [widest] = drafts
      .filter(draft => draft.width > Math.max(draft.column.cutTo ?? draft.width, atLeast))
      .sort((a, b) => b.width - a.width)
    if (widest === undefined) return
    widest.width -= 1
  }
}

/** Gives the place that is left to columns that were cut, from left to right. */
function widen(
  drafts: readonly Draft[],
  width: number,
  measure: (index: number, form: number) => number,
): void {
  for (const draft of drafts) {
    const left = Math.max(0, width - totalWidth(drafts))
    draft.width = Math.min(measure(draft.index, draft.form), draft.width + left)
  }
}
