import type { TSchema } from 'typebox'
import { Compile } from 'typebox/schema'
import { hashViolation } from '../auth/password-hash.ts'
import {
  fieldsOf,
  noteOf,
  TRANSFER_TYPES,
  type TransferLine,
  type TransferType,
  transferLines,
} from '../contract/resources/transfer.ts'
import { fieldOf, reasonOf, type Violation } from '../contract/violation.ts'
import { isoMillis, isoSeconds, parseTimestamp } from '../kit/clock.ts'
import { lazily } from '../kit/lazily.ts'

/** Why a line is invalid. */
export class LineViolation extends Error {
  override readonly name = 'LineViolation'
}

const reject = (why: string): never => {
  throw new LineViolation(why)
}

const readers = new Map(TRANSFER_TYPES.map(type => [type, lazily(() => readerOf(type))]))

/** Checks a value against the schema of its type, and normalizes its fields to their stored form. */
function readerOf(type: TransferType): (value: Record<string, unknown>) => void {
  const schema = transferLines[type]
  const compiled = Compile(schema)
  const fields = new Set(Object.keys(fieldsOf(type)))
  const normalizers = Object.entries(fieldsOf(type)).flatMap(([field, each]) => {
    const normalize = NORMALIZERS[noteOf(each, 'kept') ?? '']
    return normalize === undefined ? [] : [[field, normalize] as const]
  })
  return value => {
    for (const field in value)
      if (!fields.has(field))
        reject(`the field "${field.slice(0, 40)}" does not exist; a ${type} has ${[...fields].join(', ')}`)
    if (!compiled.Check(value)) rejectViolation(schema, compiled.Errors(value)[1][0])
    for (const [field, normalize] of normalizers) {
      const given = value[field]
      if (typeof given === 'string' && given !== '') value[field] = normalize(given, field)
    }
  }
}

function rejectViolation(schema: TSchema, first: Violation | undefined): void {
  if (first === undefined) return
  if (first.keyword !== 'required')
    reject(`the field "${fieldOf(first)}" was malformed: ${reasonOf(schema, first)}`)
  const [missing] = (first.params as { requiredProperties: string[] }).requiredProperties
  reject(`the field "${missing}" is missing`)
}

type Normalizer = (text: string, field: string) => string

const timestamp = (text: string, field: string): number =>
  parseTimestamp(text) ??
  reject(`the field "${field}" was malformed: "${text}" does not exist in the calendar`)

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
  if (text.includes('\\u')) for (const field in value) requireText(field, value[field])
  const line = value as unknown as TransferLine
  checkAcrossFields(line)
  return line
}

function parse(text: string): Record<string, unknown> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return reject('it is not JSON')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return reject('it is not a JSON object')
  return value as Record<string, unknown>
}

function requireText(field: string, value: unknown): void {
  if (Array.isArray(value)) for (const item of value) requireText(field, item)
  else if (typeof value === 'string' && (!value.isWellFormed() || value.includes('\0'))) {
    reject(`the field "${field}" was malformed: the value must be well-formed Unicode without U+0000`)
  }
}

/** Checks constraints that span several fields. */
function checkAcrossFields(line: TransferLine): void {
  if (line.type === 'entitlement' && line.last_updated !== undefined && line.last_updated < line.timestamp)
    reject('the field "last_updated" was malformed: the value must not be before "timestamp"')
  if (line.type === 'stream_key') requireOwnKey(line.user_id, line.stream_key)
  if (line.type !== 'user') return
  const violation = line.password_hash === undefined ? undefined : hashViolation(line.password_hash)
  if (violation !== undefined) reject(`the field "password_hash" was malformed: the value ${violation}`)
  requireOwnKey(line.id, line.stream_key)
}

function requireOwnKey(user_id: string, stream_key: string | undefined): void {
  if (stream_key !== undefined && stream_key.split('_')[1] !== user_id)
    reject('the field "stream_key" was malformed: the value must be a key of this user')
}
