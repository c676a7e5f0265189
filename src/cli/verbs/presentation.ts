/** How fields of responses look on a terminal: headings, alignment, local times, names beside ids, colour. */
import { clockTime } from '../../kit/clock-time.ts'
import type { Style } from '../terminal/colour.ts'
import { printable } from '../terminal/printable.ts'
import type { Cell, Column, Form, Span } from '../terminal/table.ts'
import { longTime, shortTime, type Zone } from '../terminal/time.ts'
import type { Named, Reference } from './names.ts'

export type Row = Readonly<Record<string, unknown>>

/** What a cell needs besides its value. */
export interface Surroundings extends Zone {
  readonly now: number
  nameOf(reference: Reference): string | undefined
}

interface Presentation extends Partial<Column> {
  readonly kind?: 'number' | 'time' | 'playing-time' | 'state' | 'subject'
  /** The value is an id of this kind, and its name is shown with it. */
  readonly names?: Named
  /** The value is a name, and this field is its id. */
  readonly idIn?: string
}

/** By the name of the field. A field without an entry is text under its name. */
const FIELDS: Readonly<Record<string, Presentation>> = {
  user_id: { heading: 'USER', names: 'user', cutTo: 10 },
  owner_user_id: { heading: 'OWNER', names: 'user', cutTo: 8, omitRank: 3 },
  game_id: { heading: 'GAME', names: 'game', cutTo: 10, omitRank: 2 },
  benefit_id: { heading: 'BENEFIT', names: 'benefit', cutTo: 12 },
  organization_id: { heading: 'ORGANIZATION', names: 'organization', cutTo: 12 },
  client_id: { heading: 'CLIENT', names: 'client', cutTo: 12, omitRank: 2 },
  user_login: { heading: 'CHANNEL', idIn: 'user_id', cutTo: 10 },
  game_name: { heading: 'GAME', idIn: 'game_id', cutTo: 10 },
  login: { cutTo: 10 },
  display_name: { heading: 'NAME', cutTo: 10 },
  name: { cutTo: 12 },
  title: { cutTo: 16 },
  created_at: { heading: 'CREATED', kind: 'time', omitRank: 1 },
  started_at: { heading: 'STARTED', kind: 'time' },
  finished_at: { heading: 'FINISHED', kind: 'time' },
  occurred_at: { heading: 'OCCURRED', kind: 'time' },
  valid_until: { heading: 'VALID UNTIL', kind: 'time' },
  timestamp: { heading: 'GRANTED', kind: 'time', omitRank: 1 },
  at: { heading: 'TIME', kind: 'time' },
  viewer_count: { heading: 'VIEWERS', kind: 'number' },
  view_count: { heading: 'VIEWS', kind: 'number' },
  duration_seconds: { heading: 'LENGTH', kind: 'playing-time' },
  is_live: { heading: 'LIVE', kind: 'state' },
  attempts: { kind: 'number', omitRank: 3 },
  cost: { kind: 'number', omitRank: 3 },
  times: { kind: 'number' },
  fulfillment_status: { heading: 'STATUS', kind: 'state' },
  status: { kind: 'state', cutTo: 9 },
  type: { cutTo: 12 },
  from: { kind: 'state' },
  to: { kind: 'state' },
  kind: { omitRank: 4 },
  answer_status: { heading: 'ANSWER', kind: 'number', omitRank: 2 },
  answer: { heading: 'TEXT', cutTo: 12, omitRank: 5 },
  subject: { kind: 'subject', cutTo: 9 },
  actor: { cutTo: 12 },
  redirect_uris: { heading: 'REDIRECT URIS', cutTo: 16, omitRank: 5 },
  implicit_grant: { heading: 'IMPLICIT', omitRank: 6 },
  device_flow: { heading: 'DEVICE', omitRank: 6 },
  api_url: { heading: 'API', cutTo: 16 },
  playback_url: { heading: 'PLAYBACK', cutTo: 16, omitRank: 4 },
}

/** Times in objects that are no column of a list. */
const OTHER_TIMES = /_at$|^now$|^last_updated$/

/** States, in the colour that a person expects for them. */
const STATE_STYLES: Readonly<Record<string, Style>> = {
  FULFILLED: 'green',
  enabled: 'green',
  delivered: 'green',
  yes: 'green',
  CLAIMED: 'yellow',
  pending: 'yellow',
  webhook_callback_verification_pending: 'yellow',
  failed: 'red',
  canceled: 'dim',
}

/** Kinds of ids in the audit log that have a name; the stream, channel and key of a user have the id of that user. */
const SUBJECTS: Readonly<Record<string, Named>> = {
  user: 'user',
  channel: 'user',
  stream: 'user',
  stream_key: 'user',
  game: 'game',
  benefit: 'benefit',
  organization: 'organization',
  client: 'client',
}

export function columnOf(name: string): Column {
  const { heading = name.replaceAll('_', ' ').toUpperCase(), kind, cutTo, omitRank } = FIELDS[name] ?? {}
  return {
    heading,
    ...(kind === 'number' || kind === 'playing-time' ? { align: 'right' } : {}),
    ...(cutTo !== undefined && { cutTo }),
    ...(omitRank !== undefined && { omitRank }),
  }
}

/** The ids in these fields whose names are shown. */
export function referencesIn(row: Row, names: readonly string[]): Reference[] {
  return names.flatMap(name => referenceIn(name, row[name]) ?? [])
}

function referenceIn(name: string, value: unknown): Reference | undefined {
  if (typeof value !== 'string' || value === '') return undefined
  const { names: kind, kind: form } = FIELDS[name] ?? {}
  if (kind !== undefined) return { kind, id: value }
  if (form !== 'subject') return undefined
  // Subjects of events are ids alone: of a user, or of an organization.
  const [, type, id] = /^([a-z_]+)\/([^/]+)/.exec(value) ?? []
  if (id === undefined) return { kind: /^[0-9]+$/.test(value) ? 'user' : 'organization', id: value }
  const subject = SUBJECTS[type ?? '']
  return subject && { kind: subject, id }
}

/** A field as a cell of a table. */
export function cellOf(name: string, row: Row, around: Surroundings): Cell {
  const value = row[name]
  const { kind, idIn, names } = FIELDS[name] ?? {}
  const text = printable(value)
  if (text === '-') return [[{ text, style: 'dim' }]]
  switch (kind) {
    case 'number':
      return [[{ text: Number(value).toLocaleString('en-US') }]]
    case 'time':
      return [[{ text: longTime(text, around) }], [{ text: shortTime(text, around, around.now) }]]
    case 'playing-time':
      return [[{ text: clockTime(Number(value)) }]]
    case 'state':
      return [[stateOf(value)]]
    case 'subject':
      return subjectCell(name, text, around)
  }
  if (idIn !== undefined) return withId(text, printable(row[idIn]))
  const reference = names && referenceIn(name, value)
  const named = reference && around.nameOf(reference)
  if (named !== undefined) return withId(printable(named), text)
  return [[{ text: typeof value === 'boolean' ? yesOrNo(value) : text }]]
}

const yesOrNo = (value: boolean) => (value ? 'yes' : 'no')

function stateOf(value: unknown): Span {
  const text = typeof value === 'boolean' ? yesOrNo(value) : printable(value)
  return { text, style: STATE_STYLES[text] }
}

/** A name with its id if there is space, which can be copied into a command; otherwise the name alone. */
function withId(name: string, id: string): Cell {
  const alone: Form = [{ text: name }]
  return id === '-' ? [alone] : [[...alone, { text: ` ${id}`, style: 'dim' }], alone]
}

function subjectCell(name: string, text: string, around: Surroundings): Cell {
  const reference = referenceIn(name, text)
  const named = reference && around.nameOf(reference)
  const alone: Form = [{ text }]
  return named === undefined ? [alone] : [[...alone, { text: ` ${printable(named)}`, style: 'dim' }], alone]
}

/** A field as a value of an object, which has a line for itself: ids come before their names. */
export function objectValue(name: string, row: Row, around: Surroundings): Form {
  const value = row[name]
  const { kind, idIn } = FIELDS[name] ?? {}
  if (kind === undefined && typeof value === 'string' && OTHER_TIMES.test(name))
    return [{ text: longTime(value, around) }]
  const [form] = cellOf(name, row, around)
  if (idIn !== undefined) return form.slice(0, 1)
  const named = referenceIn(name, value)
  const text = named && kind !== 'subject' && around.nameOf(named)
  return text === undefined
    ? form
    : [{ text: printable(value) }, { text: ` ${printable(text)}`, style: 'dim' }]
}
