import { hashViolation } from '../auth/password-hash.ts'
import type { Refusal } from '../contract/problem.ts'
import {
  findNote,
  listFields,
  TRANSFER_TYPES,
  type TransferLine,
  type TransferType,
  transferLines,
} from '../contract/resources/transfer.ts'
import { checkText, createShapeCheck, type Fields } from '../domain/input.ts'
import { lazy } from '../kit/lazy.ts'
import { isoMillis, isoSeconds, parseTimestamp } from '../kit/time/clock.ts'

/** Why a line is invalid. */
export class LineViolation extends Error {
  override readonly name = 'LineViolation'
}

const reject = (why: string): never => {
  throw new LineViolation(why)
}

const rejectField = (field: string, why: string): never =>
  reject(`the field "${field}" was malformed: ${why}`)

function rejectIf(refusal: Refusal<'malformed_parameter' | 'missing_parameter'> | undefined): void {
  if (refusal?.problem === 'missing_parameter') reject(`the field "${refusal.details[0]}" is missing`)
  if (refusal?.problem === 'malformed_parameter') rejectField(...refusal.details)
}

const readers = new Map(TRANSFER_TYPES.map(type => [type, lazy(() => createReader(type))]))

/** Checks a value against the schema of its type, and normalizes its fields to their stored form. */
function createReader(type: TransferType): (value: Fields) => void {
  const checkShape = createShapeCheck(transferLines[type])
  const fields = new Set(Object.keys(listFields(type)))
  const normalizers = Object.entries(listFields(type)).flatMap(([field, schema]) => {
    const normalize = NORMALIZERS[findNote(schema, 'kept') ?? '']
    return normalize === undefined ? [] : [[field, normalize] as const]
  })
  return value => {
    for (const field in value)
      if (!fields.has(field))
        reject(`the field "${field.slice(0, 40)}" does not exist; a ${type} has ${[...fields].join(', ')}`)
    rejectIf(checkShape(value))
    for (const [field, normalize] of normalizers) {
      const given = value[field]
      if (typeof given === 'string' && given !== '') value[field] = normalize(given, field)
    }
  }
}

type Normalizer = (text: string, field: string) => string

const timestamp = (text: string, field: string): number =>
  parseTimestamp(text) ?? rejectField(field, `"${text}" does not exist in the calendar`)

/** Whether a text that matches the pattern of a time has the stored form. Every month has 28 days. */
const isStored = (text: string, length: number): boolean =>
  text.length === length && text.slice(8, 10) <= '28'

const NORMALIZERS: Readonly<Record<string, Normalizer>> = {
  'lower case': text => text.toLowerCase(),
  milliseconds: (text, field) => (isStored(text, 24) ? text : isoMillis(timestamp(text, field))),
  seconds: (text, field) => (isStored(text, 20) ? text : isoSeconds(timestamp(text, field))),
}

/** Parses a line. Throws a `LineViolation` that names the field and what was expected. */
export function readLine(text: string): TransferLine {
  const value = parse(text)
  const { type } = value
  const read = readers.get(type as TransferType)?.()
  if (read === undefined) {
    const expected = TRANSFER_TYPES.map(each => `"${each}"`).join(', ')
    const given = typeof type === 'string' ? `, not "${type.slice(0, 40)}"` : ''
    return reject(`the field "type" must be one of ${expected}${given}`)
  }
  read(value)
  // The bytes were valid UTF-8, so only an escape can produce invalid text.
  if (text.includes('\\u')) rejectIf(checkText(value))
  const line = value as unknown as TransferLine
  checkAcrossFields(line)
  return line
}

function parse(text: string): Fields {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return reject('it is not JSON')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return reject('it is not a JSON object')
  return value as Fields
}

/** Checks constraints that span several fields. */
function checkAcrossFields(line: TransferLine): void {
  if (line.type === 'entitlement' && line.last_updated !== undefined && line.last_updated < line.timestamp)
    rejectField('last_updated', 'the value must not be before "timestamp"')
  if (line.type !== 'user' && line.type !== 'stream_key') return
  const user_id = line.type === 'user' ? line.id : line.user_id
  if (line.stream_key !== undefined && line.stream_key.split('_')[1] !== user_id)
    rejectField('stream_key', 'the value must be a key of this user')
  if (line.type === 'stream_key' || line.password_hash === undefined) return
  const violation = hashViolation(line.password_hash)
  if (violation !== undefined) rejectField('password_hash', `the value ${violation}`)
}
