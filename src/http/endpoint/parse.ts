import type { TObject } from 'typebox'
import { type Operation, queryParameters } from '../../contract/operation.ts'
import { MAX_LOOK_UP } from '../../contract/page.ts'
import { Problem, raise } from '../../contract/problem.ts'
import {
  checkText,
  createCheck,
  createShapeCheck,
  type Fields,
  parseJsonObject as parseObject,
  pickKnown,
} from '../../domain/input.ts'
import { decodeUtf8, eachPiece, isEncoded, type Pairs, percentDecode, splitPairs } from '../../kit/text.ts'

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

/** The text of a JSON body. */
export function decodeText(bytes: Uint8Array): string {
  return decodeUtf8(bytes) ?? raise('malformed_json')
}

/** The JSON object in a body; an empty body is an empty object. */
export function parseJsonObject(bytes: Uint8Array): Fields {
  return parseObject(decodeText(bytes)) ?? raise('malformed_json')
}

/** Reads and checks the input of one operation. Built once from its declaration. */
export interface InputReader {
  query(search: string): Fields
  /** The fields of a JSON object or of a form, and of the query string where the operation reads them from anywhere. */
  body(json: Fields, query: Pairs, form?: Pairs): Fields
  params(raw: Readonly<Record<string, string>>): Fields
}

export function createInputReader(operation: Operation): InputReader {
  const querySchema = queryParameters(operation)
  const parameters = listParameters(querySchema)
  const checkQuery = createShapeCheck(querySchema)
  const { exactlyOne, exactlyOneProblem, lookUpBy, body: bodySchema } = operation
  const bodyParameters = bodySchema && listParameters(bodySchema)
  const checkBody = bodySchema && createValidator(bodySchema)
  const checkParams = operation.params && createValidator(operation.params)
  return {
    query: search => {
      const encoded = isEncoded(search)
      const fields = encoded ? readEncoded(parseQuery(search), parameters) : readPlain(search, parameters)
      if (lookUpBy !== undefined) refuseTooMany(fields, lookUpBy)
      // Without encoding, a URL has only characters that are text.
      const refused = (encoded ? checkText(fields) : undefined) ?? checkQuery(fields)
      if (refused !== undefined) throw new Problem(refused)
      if (exactlyOne !== undefined && exactlyOne.filter(name => fields[name] !== undefined).length !== 1) {
        if (exactlyOneProblem !== undefined) raise(exactlyOneProblem)
        raise('not_exactly_one', ...exactlyOne)
      }
      return fields
    },
    body: (json, query, form = []) => {
      if (bodySchema === undefined || checkBody === undefined || bodyParameters === undefined) return {}
      const fields = pickKnown(bodySchema, json)
      if (operation.bodyFrom === 'anywhere')
        for (const pairs of [form, query]) merge(fields, readEncoded(pairs, bodyParameters))
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

function createValidator(schema: TObject): (fields: Fields) => void {
  const check = createCheck(schema)
  return fields => {
    const refused = check(fields)
    if (refused !== undefined) throw new Problem(refused)
  }
}

/** Fields are in the order in which they were sent: the message names the first (D-62). */
function refuseTooMany(fields: Fields, names: readonly string[]): void {
  let count = 0
  let first = ''
  for (const name in fields) {
    if (!names.includes(name)) continue
    const { length } = fields[name] as readonly string[]
    if (length > 0) first ||= name
    count += length
  }
  if (count > MAX_LOOK_UP)
    raise('malformed_parameter', first, `the value must be less than or equal to ${MAX_LOOK_UP}`)
}

/** How a parameter is read. */
interface Parameter {
  readonly name: string
  readonly type: unknown
  readonly emptyIsValue: boolean
}

function listParameters(schema: TObject): readonly Parameter[] {
  return Object.entries(schema.properties).map(([name, property]) => {
    const { type = 'any', emptyIsValue = false } = property as { type?: unknown; emptyIsValue?: boolean }
    return { name, type, emptyIsValue }
  })
}

/** Reads the pairs whose names are parameters, and ignores the others. */
function readEncoded(pairs: Pairs, parameters: readonly Parameter[]): Fields {
  const fields: Fields = {}
  for (const [name, value] of pairs) {
    const parameter = parameters.find(each => each.name === name)
    if (parameter !== undefined) add(fields, parameter, value)
  }
  return fields
}

/** Reads a query string that contains no encoded character, as most do: names are compared in place. */
function readPlain(text: string, parameters: readonly Parameter[]): Fields {
  const fields: Fields = {}
  eachPiece(text, (start, nameEnd, end) => {
    for (const parameter of parameters) {
      const { name } = parameter
      if (name.length !== nameEnd - start || !text.startsWith(name, start)) continue
      add(fields, parameter, text.slice(nameEnd + 1, end))
      break
    }
  })
  return fields
}

/**
 * An empty value counts as absent, unless `emptyIsValue` is declared: then a list that has only empty ones is an empty list.
 * A repeated scalar is rejected.
 */
function add(fields: Fields, { name, type, emptyIsValue }: Parameter, value: string): void {
  if (value === '' && !emptyIsValue) return
  const present = fields[name]
  if (type === 'array') {
    if (present === undefined) fields[name] = value === '' ? [] : [value]
    else if (value !== '') (present as string[]).push(value)
  } else if (present !== undefined) raise('repeated_parameter', name)
  else fields[name] = type === 'integer' ? integer(name, value) : value
}

function integer(name: string, text: string): number {
  return INTEGER.test(text)
    ? Number(text)
    : raise('malformed_parameter', name, 'the value must be an integer')
}

/** Merges a form or the query string into the fields of a body. A field may be in both only with the same value. */
function merge(fields: Fields, more: Fields): void {
  for (const name of Object.keys(fields)) if (fields[name] === '') delete fields[name]
  for (const [name, value] of Object.entries(more)) {
    if (fields[name] !== undefined && fields[name] !== value) raise('repeated_parameter', name)
    fields[name] = value
  }
}
