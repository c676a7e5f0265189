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
import { fieldOf, reasonOf } from '../contract/violation.ts'
import { isoMillis, isoSeconds, parseTimestamp } from '../kit/clock.ts'
import { lazily } from '../kit/lazily.ts'

/** Why a line is not one of ours. */
export class LineViolation extends Error {
  override readonly name = 'LineComplaint'
}

const reject = (why: string): never => {
  throw new LineViolation(why)
}

interface Reader {
  readonly fields: ReadonlySet<string>
  check(value: object): void
  /** Brings values into the form in which they are kept. */
  settle(value: Record<string, unknown>): void
}

const readers = new Map(TRANSFER_TYPES.map(type => [type, lazily(() => readerOf(type))]))

function readerOf(type: TransferType): Reader {
  const schema = transferLines[type]
  const compiled = Compile(schema)
  const settlers = Object.entries(fieldsOf(type)).flatMap(([field, each]) => {
    const settle = SETTLERS[noteOf(each, 'kept') ?? '']
    return settle === undefined ? [] : [[field, settle] as const]
  })
  return {
    fields: new Set(Object.keys(fieldsOf(type))),
    check: value => {
      if (compiled.Check(value)) return
      const [, [first]] = compiled.Errors(value)
      if (first === undefined) return
      if (first.keyword === 'required') {
        const [missing] = (first.params as unknown as { requiredProperties: string[] }).requiredProperties
        reject(`the field "${missing}" is missing`)
      }
      reject(`the field "${fieldOf(first)}" was malformed: ${reasonOf(schema, first)}`)
    },
    settle: value => {
      for (const [field, settle] of settlers) {
        const given = value[field]
        if (typeof given === 'string' && given !== '') value[field] = settle(given, field)
      }
    },
  }
}

type Settler = (text: string, field: string) => string

const moment = (text: string, field: string): number =>
  parseTimestamp(text) ?? reject(`the field "${field}" was malformed: there is no such moment as "${text}"`)

const SETTLERS: Readonly<Record<string, Settler>> = {
  'lower case': text => text.toLowerCase(),
  milliseconds: (text, field) => isoMillis(moment(text, field)),
  seconds: (text, field) => isoSeconds(moment(text, field)),
}

/** What a line of a file says. Throws a `LineComplaint` that names the field, and what was expected there. */
export function readLine(text: string): TransferLine {
  const value = parse(text)
  const { type } = value
  const reader = readers.get(type as TransferType)?.()
  if (reader === undefined) {
    const expected = TRANSFER_TYPES.map(each => `"${each}"`).join(', ')
    return reject(
      `the field "type" must be one of ${expected}${typeof type === 'string' ? `, not "${type.slice(0, 40)}"` : ''}`,
    )
  }
  for (const field in value) {
    if (!reader.fields.has(field)) {
      const expected = [...reader.fields].join(', ')
      reject(`the field "${field.slice(0, 40)}" does not exist; a ${String(type)} has ${expected}`)
    }
  }
  reader.check(value)
  // Only an escape can bring in what is not text: the bytes were UTF-8.
  if (text.includes('\\u')) for (const field in value) requireText(field, value[field])
  reader.settle(value)
  const line = value as unknown as TransferLine
  requireSense(line)
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

/** What no single field tells. */
function requireSense(line: TransferLine): void {
  if (line.type === 'entitlement' && line.last_updated !== undefined && line.last_updated < line.timestamp)
    reject('the field "last_updated" was malformed: the value must not be before "timestamp"')
  const violation =
    line.type === 'user' && line.password_hash !== undefined ? hashViolation(line.password_hash) : undefined
  if (violation !== undefined) reject(`the field "password_hash" was malformed: the value ${violation}`)
  if (line.type === 'user' && line.stream_key !== undefined && line.stream_key.split('_')[1] !== line.id)
    reject('the field "stream_key" was malformed: the value must be a key of this user')
}
