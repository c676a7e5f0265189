import type { TObject, TSchema } from 'typebox'
import { Compile } from 'typebox/schema'
import { type Operation, queryParametersOf } from '../contract/operation.ts'
import { raise } from '../contract/problem.ts'
import { decodeUtf8, isStorable, type Pairs, percentDecode, splitPairs } from '../kit/text.ts'
import { explain } from './explain.ts'

export type Fields = Record<string, unknown>

const NO_FIELDS: Fields = {}
const INTEGER = /^(0|[1-9][0-9]{0,8})$/

/** The names and values of a query string. */
export function parseQuery(search: string): Pairs {
  return splitPairs(search) ?? raise('malformed_query')
}

/** The names and values in a form body. */
export function parseForm(bytes: Uint8Array): Pairs {
  return parseQuery(decodeUtf8(bytes) ?? raise('malformed_query'))
}

/** The text of a body that is to be JSON. */
export function decodeText(bytes: Uint8Array): string {
  return decodeUtf8(bytes) ?? raise('malformed_json')
}

/** The JSON object in a body; an empty body is an empty object. */
export function parseJsonObject(bytes: Uint8Array): Fields {
  if (bytes.length === 0) return {}
  const text = decodeText(bytes)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return raise('malformed_json')
  }
  return isObject(value) ? value : raise('malformed_json')
}

/** Checks one operation's input. Built once from the declaration. */
export interface InputReader {
  query(pairs: Pairs): Fields
  body(json: Fields, pairs: Pairs): Fields
  params(raw: Readonly<Record<string, string>>): Fields
}

export function createInputReader(operation: Operation): InputReader {
  const querySchema = queryParametersOf(operation)
  const collectQuery = collector(querySchema)
  const checkQuery = validator(querySchema)
  const bodySchema = operation.body
  const collectBody = bodySchema && collector(bodySchema)
  const checkBody = bodySchema && validator(bodySchema)
  const checkParams = operation.params && validator(operation.params)
  return {
    query: pairs => {
      const fields = collectQuery(pairs)
      checkQuery(fields)
      const { exactlyOne } = operation
      if (
        exactlyOne !== undefined &&
        (fields[exactlyOne[0]] === undefined) === (fields[exactlyOne[1]] === undefined)
      ) {
        raise('not_exactly_one', ...exactlyOne)
      }
      return fields
    },
    body: (json, pairs) => {
      if (bodySchema === undefined || checkBody === undefined || collectBody === undefined) return {}
      const fields = pick(bodySchema, json) as Fields
      if (operation.bodyFrom === 'anywhere') merge(fields, collectBody(pairs))
      checkBody(fields)
      return fields
    },
    params: raw => {
      if (checkParams === undefined) return NO_FIELDS
      const fields: Fields = {}
      for (const [name, text] of Object.entries(raw))
        fields[name] = percentDecode(text) ?? raise('malformed_query')
      checkParams(fields)
      return fields
    },
  }
}

/** Puts the values of known names together; an empty value counts as absent, a scalar given twice is refused. */
function collector(schema: TObject): (pairs: Pairs) => Fields {
  const types = new Map<string, unknown>()
  for (const [name, property] of Object.entries(schema.properties)) {
    types.set(name, (property as { type?: unknown }).type ?? 'any')
  }
  return pairs => {
    const fields: Fields = {}
    for (const [name, value] of pairs) {
      const type = types.get(name)
      if (value === '' || type === undefined) continue
      const given = fields[name]
      if (type === 'array') {
        if (given === undefined) fields[name] = [value]
        else (given as string[]).push(value)
      } else if (given !== undefined) raise('repeated_parameter', name)
      else fields[name] = type === 'integer' ? integer(name, value) : value
    }
    return fields
  }
}

function integer(name: string, text: string): number {
  return INTEGER.test(text)
    ? Number(text)
    : raise('malformed_parameter', name, 'the value must be an integer')
}

/** Fields of a body and of the query string together: the same one may come twice only with the same value. */
function merge(fields: Fields, more: Fields): void {
  for (const name of Object.keys(fields)) if (fields[name] === '') delete fields[name]
  for (const [name, value] of Object.entries(more)) {
    if (fields[name] !== undefined && fields[name] !== value) raise('repeated_parameter', name)
    fields[name] = value
  }
}

/** The known keys of an object, at every depth; what has the wrong type stays, for the validator to find. */
function pick(schema: TSchema, value: unknown): unknown {
  const { properties, items } = schema as { properties?: Record<string, TSchema>; items?: TSchema }
  if (Array.isArray(value)) return items === undefined ? value : value.map(item => pick(items, item))
  if (!isObject(value) || properties === undefined) return value
  const picked: Fields = {}
  for (const [name, property] of Object.entries(properties)) {
    const given = Object.hasOwn(value, name) ? value[name] : undefined
    if (given === undefined) continue
    const rules = property as { nullIsAbsent?: boolean; numberIsText?: boolean }
    if (given === null && rules.nullIsAbsent) continue
    picked[name] = rules.numberIsText && Number.isSafeInteger(given) ? String(given) : pick(property, given)
  }
  return picked
}

/** First the rule for all text (D-12), then the schema. */
function validator(schema: TObject): (fields: Fields) => void {
  const compiled = Compile(schema)
  return fields => {
    for (const name in fields) requireText(name, fields[name])
    if (compiled.Check(fields)) return
    const [, [first]] = compiled.Errors(fields)
    if (first !== undefined) throw explain(schema, first)
  }
}

/** No declared input is nested deeper; what is, has the wrong type somewhere above and is refused for that. */
const DEEPEST = 8

/** Well-formed Unicode without U+0000, everywhere. */
function requireText(name: string, value: unknown, depth = 0): void {
  if (depth > DEEPEST) return
  if (typeof value === 'string') {
    if (!isStorable(value)) {
      raise('malformed_parameter', name, 'the value must be well-formed Unicode without U+0000')
    }
  } else if (Array.isArray(value)) for (const item of value) requireText(name, item, depth + 1)
  else if (isObject(value)) {
    for (const [key, item] of Object.entries(value)) {
      requireText(name, key, depth + 1)
      requireText(name, item, depth + 1)
    }
  }
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
