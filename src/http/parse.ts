import type { TObject } from 'typebox'
import { type Operation, queryParametersOf } from '../contract/operation.ts'
import { MAX_LOOK_UP } from '../contract/page.ts'
import { Problem, raise } from '../contract/problem.ts'
import { createCheck, type Fields, parseJsonObject as parseObject, pickKnown } from '../domain/input.ts'
import { decodeUtf8, isEncoded, type Pairs, percentDecode, readPairs, splitPairs } from '../kit/text.ts'

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
  body(json: Fields, pairs: Pairs): Fields
  params(raw: Readonly<Record<string, string>>): Fields
}

export function createInputReader(operation: Operation): InputReader {
  const querySchema = queryParametersOf(operation)
  const addToQuery = createAdder(querySchema)
  const checkQuery = createValidator(querySchema)
  const bodySchema = operation.body
  const addToBody = bodySchema && createAdder(bodySchema)
  const checkBody = bodySchema && createValidator(bodySchema)
  const checkParams = operation.params && createValidator(operation.params)
  return {
    query: search => {
      const fields: Fields = {}
      // One that is not encoded is well formed and needs no list. Of others no piece counts if another is malformed.
      if (isEncoded(search)) for (const [name, value] of parseQuery(search)) addToQuery(fields, name, value)
      else readPairs(search, (name, value) => addToQuery(fields, name, value))
      const { exactlyOne, exactlyOneProblem, lookUpBy } = operation
      if (lookUpBy !== undefined) refuseTooMany(fields, lookUpBy)
      checkQuery(fields)
      if (exactlyOne !== undefined && exactlyOne.filter(name => fields[name] !== undefined).length !== 1) {
        if (exactlyOneProblem !== undefined) raise(exactlyOneProblem)
        raise('not_exactly_one', ...exactlyOne)
      }
      return fields
    },
    body: (json, pairs) => {
      if (bodySchema === undefined || checkBody === undefined || addToBody === undefined) return {}
      const fields = pickKnown(bodySchema, json)
      if (operation.bodyFrom === 'anywhere') {
        const more: Fields = {}
        for (const [name, value] of pairs) addToBody(more, name, value)
        merge(fields, more)
      }
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
    first ||= name
    count += (fields[name] as readonly string[]).length
  }
  if (count > MAX_LOOK_UP)
    raise('malformed_parameter', first, `the value must be less than or equal to ${MAX_LOOK_UP}`)
}

/**
 * Adds a pair to the fields if its name is known. An empty value counts as absent, unless `emptyIsValue` is declared; a
 * repeated scalar is rejected.
 */
function createAdder(schema: TObject): (fields: Fields, name: string, value: string) => void {
  const types = new Map<string, unknown>()
  const mayBeEmpty = new Set<string>()
  for (const [name, property] of Object.entries(schema.properties)) {
    const { type = 'any', emptyIsValue } = property as { type?: unknown; emptyIsValue?: boolean }
    types.set(name, type)
    if (emptyIsValue) mayBeEmpty.add(name)
  }
  return (fields, name, value) => {
    const type = types.get(name)
    if (type === undefined || (value === '' && !mayBeEmpty.has(name))) return
    const present = fields[name]
    if (type === 'array') {
      if (present === undefined) fields[name] = [value]
      else (present as string[]).push(value)
    } else if (present !== undefined) raise('repeated_parameter', name)
    else fields[name] = type === 'integer' ? integer(name, value) : value
  }
}

function integer(name: string, text: string): number {
  return INTEGER.test(text)
    ? Number(text)
    : raise('malformed_parameter', name, 'the value must be an integer')
}

/** Merges the query string into the fields of a body. A field may be in both only with the same value. */
function merge(fields: Fields, more: Fields): void {
  for (const name of Object.keys(fields)) if (fields[name] === '') delete fields[name]
  for (const [name, value] of Object.entries(more)) {
    if (fields[name] !== undefined && fields[name] !== value) raise('repeated_parameter', name)
    fields[name] = value
  }
}
