/** Input held against its declaration: known fields only, the rule for all text, then the schema. */
import type { Static, TObject, TSchema } from 'typebox'
import { Compile } from 'typebox/schema'
import { type Refusal, refuse } from '../contract/problem.ts'
import { explainViolation, type Violation, violatedField } from '../contract/violation.ts'
import { isStorable } from '../kit/text.ts'

export type Fields = Record<string, unknown>

type BadField = Refusal<'malformed_parameter' | 'missing_parameter'>

/** Reads the text of a JSON body of this shape. */
export function createJsonReader<S extends TObject>(
  schema: S,
): (text: string) => Static<S> | BadField | Refusal<'malformed_json'> {
  const checkShape = createShapeCheck(schema)
  return text => {
    const json = parseJsonObject(text)
    if (json === undefined) return refuse('malformed_json')
    const fields = pickKnown(schema, json)
    // In JSON that was UTF-8, only an escape can bring in what is not text.
    const badText = text.includes('\\u') ? checkText(fields) : undefined
    return badText ?? checkShape(fields) ?? (fields as Static<S>)
  }
}

/** The JSON object in a text; no text is an empty object. Undefined: it is something else. */
export function parseJsonObject(text: string): Fields | undefined {
  try {
    const value: unknown = text === '' ? {} : JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** The known keys of an object, at every depth; what has the wrong type stays, for the check to find. */
export function pickKnown(schema: TObject, value: Fields): Fields {
  return pick(schema, value) as Fields
}

function pick(schema: TSchema, value: unknown): unknown {
  const { properties, items } = schema as { properties?: Record<string, TSchema>; items?: TSchema }
  if (Array.isArray(value)) return items === undefined ? value : value.map(item => pick(items, item))
  if (!isObject(value) || properties === undefined) return value
  const picked: Fields = {}
  for (const [name, property] of Object.entries(properties)) {
    const given = Object.hasOwn(value, name) ? value[name] : undefined
    if (given === undefined) continue
    if (given === null && (property as Leniency).nullIsAbsent) continue
    picked[name] = convert(property, given) ?? pick(property, given)
  }
  // A declaration that allows no other fields has them refused by the check.
  return (schema as Closed).additionalProperties === false ? { ...value, ...picked } : picked
}

interface Closed {
  readonly additionalProperties?: unknown
}

/** Other forms in which clients send a field, as its declaration accepts them. */
interface Leniency {
  readonly nullIsAbsent?: boolean
  readonly numberIsText?: boolean
  readonly digitsAreInteger?: boolean
}

const DIGITS = /^[0-9]{1,9}$/

function convert({ numberIsText, digitsAreInteger }: Leniency, given: unknown): string | number | undefined {
  if (numberIsText && Number.isSafeInteger(given)) return String(given)
  if (digitsAreInteger && typeof given === 'string' && DIGITS.test(given)) return Number(given)
  return undefined
}

/** Checks fields: first the rule for all text (D-12), then the schema. Only the first violation is reported. */
export function createCheck(schema: TObject): (fields: Fields) => BadField | undefined {
  const checkShape = createShapeCheck(schema)
  return fields => checkText(fields) ?? checkShape(fields)
}

/** The rule for all text (D-12). */
export function checkText(fields: Fields): BadField | undefined {
  for (const name in fields) {
    if (!isText(fields[name]))
      return refuse('malformed_parameter', name, 'the value must be well-formed Unicode without U+0000')
  }
  return undefined
}

export function createShapeCheck(schema: TObject): (fields: Fields) => BadField | undefined {
  const compiled = Compile(schema)
  return fields => {
    if (compiled.Check(fields)) return undefined
    const [, [first]] = compiled.Errors(fields)
    return first && explain(schema, first)
  }
}

/** The message of a violation (D-10). */
function explain(schema: TObject, violation: Violation): BadField {
  if (violation.keyword === 'required') {
    const [missing] = (violation.params as { requiredProperties: string[] }).requiredProperties
    const path = violation.instancePath.split('/').slice(1)
    return refuse('missing_parameter', [...path, missing].join('.'))
  }
  return refuse(
    'malformed_parameter',
    violatedField(violation) || 'body',
    explainViolation(schema, violation),
  )
}

/** No declared input is nested deeper; what is, has the wrong type somewhere above and is refused for that. */
const DEEPEST = 8

/** Well-formed Unicode without U+0000, everywhere. */
function isText(value: unknown, depth = 0): boolean {
  if (depth > DEEPEST) return true
  if (typeof value === 'string') return isStorable(value)
  if (Array.isArray(value)) return value.every(item => isText(item, depth + 1))
  if (!isObject(value)) return true
  return Object.entries(value).every(([key, item]) => isStorable(key) && isText(item, depth + 1))
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
