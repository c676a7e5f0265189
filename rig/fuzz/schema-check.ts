/**
 * A JSON Schema validator that is independent of the server's, so that it does not share its bugs. It supports the keywords
 * that the document uses and rejects any other. Schemas are compiled to functions: the tests check tens of thousands of
 * answers.
 */
import type { ApiDocument, Schema, SchemaType } from './document.ts'

const MEANT_FOR_READERS = new Set([
  'description',
  'examples',
  'discriminator',
  'writeOnly',
  'contentMediaType',
  'contentSchema',
  'x-strand-refers-to',
])
const CHECKED = new Set([
  '$ref',
  'type',
  'format',
  'enum',
  'const',
  'anyOf',
  'oneOf',
  'properties',
  'additionalProperties',
  'required',
  'maxProperties',
  'items',
  'minItems',
  'maxItems',
  'pattern',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
])

type Named = ApiDocument['components']['schemas']

/** Put into words only if it is reported: of several variants most do not match. */
type Violation = () => string
type Check = (value: unknown, at: string, found: Violation[]) => void
type Test = (value: string | number) => boolean

/** Violations with their location. Unlisted fields are violations too. */
export function violationsAbout(value: unknown, schema: Schema, named: Named, at = ''): string[] {
  const found: Violation[] = []
  checkOf(schema, named)(value, at, found)
  return found.map(violation => violation())
}

const compiled = new WeakMap<Named, WeakMap<Schema, Check>>()

function checkOf(schema: Schema, named: Named): Check {
  const checks = compiled.get(named) ?? new WeakMap<Schema, Check>()
  compiled.set(named, checks)
  const check = checks.get(schema) ?? compile(schema, named)
  checks.set(schema, check)
  return check
}

function compile(schema: Schema, named: Named): Check {
  for (const keyword of Object.keys(schema)) {
    if (!CHECKED.has(keyword) && !MEANT_FOR_READERS.has(keyword))
      throw new Error(`the document uses the keyword "${keyword}", which the fuzzer does not check`)
  }
  if (schema.$ref !== undefined) return checkOf(resolve(schema.$ref, named), named)
  if (schema.anyOf !== undefined) return anyOf(schema.anyOf.map(variant => checkOf(variant, named)))
  if (schema.oneOf !== undefined) return oneOf(schema.oneOf.map(variant => checkOf(variant, named)))
  const types = schema.type === undefined ? undefined : [schema.type].flat()
  const { enum: values, const: constant } = schema
  const checkText = textCheck(schema)
  const checkNumber = numberCheck(schema)
  const checkItems = itemsCheck(schema, named)
  const checkFields = fieldsCheck(schema, named)
  return (value, at, found) => {
    if (types !== undefined && !types.some(type => isOfType(value, type)))
      found.push(() => wrong(value, at, `is not of type ${types.join(' or ')}`))
    else if (values !== undefined && !values.includes(value as string))
      found.push(() => wrong(value, at, 'is none of the values'))
    else if (constant !== undefined && value !== constant)
      found.push(() => wrong(value, at, `is not "${constant}"`))
    else if (typeof value === 'string') checkText(value, at, found)
    else if (typeof value === 'number') checkNumber(value, at, found)
    else if (Array.isArray(value)) checkItems(value, at, found)
    else if (isObject(value)) checkFields(value, at, found)
  }
}

const wrong = (value: unknown, at: string, why: string) =>
  `${at || '/'} ${why}: ${JSON.stringify(value)?.slice(0, 200)}`

function matches(check: Check, value: unknown): boolean {
  const found: Violation[] = []
  check(value, '', found)
  return found.length === 0
}

function anyOf(variants: readonly Check[]): Check {
  return (value, at, found) => {
    if (!variants.some(variant => matches(variant, value)))
      found.push(() => wrong(value, at, `is none of ${variants.length} variants`))
  }
}

function oneOf(variants: readonly Check[]): Check {
  return (value, at, found) => {
    const right = variants.filter(variant => matches(variant, value)).length
    if (right !== 1) found.push(() => `${at || '/'} is ${right} of ${variants.length} variants`)
  }
}

function itemsCheck({ items, minItems = 0, maxItems = Number.POSITIVE_INFINITY }: Schema, named: Named) {
  const check = items && checkOf(items, named)
  return (value: readonly unknown[], at: string, found: Violation[]) => {
    if (value.length < minItems || value.length > maxItems)
      found.push(() => wrong(value, at, `has ${value.length} items`))
    else if (check !== undefined)
      for (const [index, item] of value.entries()) check(item, `${at}/${index}`, found)
  }
}

function fieldsCheck(schema: Schema, named: Named) {
  const {
    properties = {},
    additionalProperties,
    required = [],
    maxProperties = Number.POSITIVE_INFINITY,
  } = schema
  const checks = new Map(Object.entries(properties).map(([name, each]) => [name, checkOf(each, named)]))
  const checkOther = additionalProperties && checkOf(additionalProperties, named)
  const isListed = schema.properties !== undefined || additionalProperties !== undefined
  return (value: Readonly<Record<string, unknown>>, at: string, found: Violation[]) => {
    const names = Object.keys(value)
    for (const name of required) if (!Object.hasOwn(value, name)) found.push(() => `${at}/${name} is missing`)
    if (names.length > maxProperties) found.push(() => `${at || '/'} has ${names.length} fields`)
    for (const name of names) {
      const check = checks.get(name) ?? checkOther
      if (check !== undefined) check(value[name], `${at}/${name}`, found)
      else if (isListed) found.push(() => `${at}/${name} is not listed`)
    }
  }
}

const FORMATS: Readonly<Record<string, (value: string) => boolean>> = {
  'date-time': text =>
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(text) && !Number.isNaN(Date.parse(text)),
  uuid: text => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text),
  uri: text => URL.canParse(text) && /^[!-~]+$/.test(text) && !/["<>\\^`{|}]/.test(text),
  'uri-template': text => URL.canParse(text) && !/[{}]/.test(text.replace(/\{\w+\}/g, '')),
  int32: number => Math.abs(Number(number)) < 2 ** 31,
  int64: number => Number.isSafeInteger(Number(number)),
}

function formatTest(format: string | undefined): Test {
  if (format === undefined) return () => true
  const test = FORMATS[format]
  if (test === undefined) throw new Error(`the document has the format "${format}", which is not checked`)
  return value => test(String(value))
}

function textCheck({ pattern, format, minLength = 0, maxLength = Number.POSITIVE_INFINITY }: Schema) {
  const form = pattern === undefined ? undefined : new RegExp(pattern, 'u')
  const isOfFormat = formatTest(format)
  return (text: string, at: string, found: Violation[]) => {
    if (form !== undefined && !form.test(text)) found.push(() => wrong(text, at, `does not match ${pattern}`))
    else if (!isOfFormat(text)) found.push(() => wrong(text, at, `is not a ${format}`))
    // A character has one or two code units, so most texts need not be counted.
    else if (text.length < 2 * minLength || text.length > maxLength) {
      const length = [...text].length
      if (length < minLength || length > maxLength)
        found.push(() => wrong(text, at, `has ${length} characters`))
    }
  }
}

function numberCheck(schema: Schema) {
  const { minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY, format } = schema
  const isOfFormat = formatTest(format)
  return (value: number, at: string, found: Violation[]) => {
    if (!isOfFormat(value)) found.push(() => wrong(value, at, `is not an ${format}`))
    else if (value < minimum || value > maximum)
      found.push(() => wrong(value, at, `is not within ${minimum} and ${maximum}`))
  }
}

function isOfType(value: unknown, type: SchemaType): boolean {
  switch (type) {
    case 'null':
      return value === null
    case 'array':
      return Array.isArray(value)
    case 'object':
      return isObject(value)
    case 'integer':
      return Number.isInteger(value)
    default:
      return typeof value === type
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function resolve(reference: string, named: Named): Schema {
  const schema = named[reference.replace('#/components/schemas/', '')]
  if (schema === undefined) throw new Error(`the document refers to ${reference}, which it does not have`)
  return schema
}
