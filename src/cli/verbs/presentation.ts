/** How fields of responses look on a terminal: headings, alignment, local times, names beside ids, colour. */
import { fieldNamed, isReferenced, parseSubject, statusTone, type Tone } from '../../contract/admin/fields.ts'
import { clockTime } from '../../kit/time/clock-time.ts'
import type { Style } from '../terminal/colour.ts'
import { printable } from '../terminal/printable.ts'
import type { Cell, Column, Form, Span } from '../terminal/table.ts'
import { longTime, shortTime, type Zone } from '../terminal/time.ts'
import type { Reference } from './names.ts'

export type Row = Readonly<Record<string, unknown>>

/** What a cell needs besides its value. */
export interface Environment extends Zone {
  readonly now: number
  nameOf(reference: Reference): string | undefined
}

/** Times in objects that are no column of a list. */
const OTHER_TIMES = /_at$|^now$|^last_updated$/

const TONE_STYLES: Readonly<Record<Tone, Style>> = {
  good: 'green',
  warn: 'yellow',
  bad: 'red',
  neutral: 'dim',
}

export function toColumn(name: string): Column {
  const { kind, cutTo, omitRank } = fieldNamed(name)
  return {
    heading: terminalHeading(name),
    ...(kind === 'number' || kind === 'code' || kind === 'duration' ? { align: 'right' } : {}),
    ...(cutTo !== undefined && { cutTo }),
    ...(omitRank !== undefined && { omitRank }),
  }
}

function terminalHeading(name: string): string {
  const { heading, label, refersTo } = fieldNamed(name)
  const plain = refersTo === undefined ? name : name.replace(/_id$/, '')
  return heading ?? (label ?? plain.replaceAll('_', ' ')).toUpperCase()
}

/** The ids in these fields whose names are shown. */
export function referencesIn(row: Row, names: readonly string[]): Reference[] {
  return names.flatMap(name => referenceIn(name, row[name]) ?? [])
}

function referenceIn(name: string, value: unknown): Reference | undefined {
  if (typeof value !== 'string' || value === '') return undefined
  const { refersTo: table, kind } = fieldNamed(name)
  if (table !== undefined) return { table, id: value }
  if (kind !== 'subject') return undefined
  // Subjects of events are ids alone: of a user, or of an organization.
  if (!value.includes('/')) return { table: /^[0-9]+$/.test(value) ? 'users' : 'organizations', id: value }
  const subject = parseSubject(value)
  return subject && isReferenced(subject.table) ? subject : undefined
}

/** A field as a cell of a table. */
export function formatCell(name: string, row: Row, around: Environment): Cell {
  const value = row[name]
  const { kind, idIn, refersTo } = fieldNamed(name)
  const text = printable(value)
  if (text === '-') return [[{ text, style: 'dim' }]]
  switch (kind) {
    case 'number':
      return [[{ text: Number(value).toLocaleString('en-US') }]]
    case 'time':
      return [[{ text: longTime(text, around) }], [{ text: shortTime(text, around, around.now) }]]
    case 'duration':
      return [[{ text: clockTime(Number(value)) }]]
    case 'flag':
    case 'status':
    case 'former-status':
      return [[formatState(value)]]
    case 'subject':
      return subjectCell(name, text, around)
  }
  if (idIn !== undefined) return withId(text, printable(row[idIn]))
  const reference = refersTo && referenceIn(name, value)
  const named = reference && around.nameOf(reference)
  if (named !== undefined) return withId(printable(named), text)
  return [[{ text: typeof value === 'boolean' ? yesOrNo(value) : text }]]
}

const yesOrNo = (value: boolean) => (value ? 'yes' : 'no')

function formatState(value: unknown): Span {
  const text = typeof value === 'boolean' ? yesOrNo(value) : printable(value)
  const tone = value === true ? 'good' : statusTone(text)
  return { text, style: tone && TONE_STYLES[tone] }
}

/** A name with its id if there is space, which can be copied into a command; otherwise the name alone. */
function withId(name: string, id: string): Cell {
  const alone: Form = [{ text: name }]
  return id === '-' ? [alone] : [[...alone, { text: ` ${id}`, style: 'dim' }], alone]
}

function subjectCell(name: string, text: string, around: Environment): Cell {
  const reference = referenceIn(name, text)
  const named = reference && around.nameOf(reference)
  const alone: Form = [{ text }]
  return named === undefined ? [alone] : [[...alone, { text: ` ${printable(named)}`, style: 'dim' }], alone]
}

/** A field as a value of an object, which has a line for itself: ids come before their names. */
export function objectValue(name: string, row: Row, around: Environment): Form {
  const value = row[name]
  const { kind, idIn } = fieldNamed(name)
  if (kind === undefined && typeof value === 'string' && OTHER_TIMES.test(name))
    return [{ text: longTime(value, around) }]
  const [form] = formatCell(name, row, around)
  if (idIn !== undefined) return form.slice(0, 1)
  const named = referenceIn(name, value)
  const text = named && kind !== 'subject' && around.nameOf(named)
  return text === undefined
    ? form
    : [{ text: printable(value) }, { text: ` ${printable(text)}`, style: 'dim' }]
}
