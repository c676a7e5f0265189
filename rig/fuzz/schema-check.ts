/**
 * A JSON Schema validator that is independent of the server's, so that it does not share its bugs. It supports the keywords
 * that the document uses and rejects any other.
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

/** Violations with their location. Unlisted fields are violations too. */
export function violationsAbout(value: unknown, schema: Schema, named: Named, at = ''): string[] {
  for (const keyword of Object.keys(schema)) {
    if (!CHECKED.has(keyword) && !MEANT_FOR_READERS.has(keyword))
      throw new Error(`the document uses the keyword "${keyword}", which the fuzzer does not check`)
  }
  if (schema.$ref !== undefined) return violationsAbout(value, resolve(schema.$ref, named), named, at)
  if (schema.anyOf !== undefined) {
    const variants = schema.anyOf.map(variant => violationsAbout(value, variant, named, at))
    if (variants.some(violations => violations.length === 0)) return []
    return [`${at || '/'} is none of ${variants.length} variants: ${JSON.stringify(value)?.slice(0, 200)}`]
  }
  if (schema.oneOf !== undefined) {
    const right = schema.oneOf.filter(variant => violationsAbout(value, variant, named, at).length === 0)
    return right.length === 1 ? [] : [`${at || '/'} is ${right.length} of ${schema.oneOf.length} variants`]
  }
  const wrong = (why: string) => [`${at || '/'} ${why}: ${JSON.stringify(value)?.slice(0, 200)}`]
  if (schema.type !== undefined && ![schema.type].flat().some(type => isOfType(value, type)))
    return wrong(`is not of type ${[schema.type].flat().join(' or ')}`)
  if (schema.enum !== undefined && !schema.enum.includes(value as string))
    return wrong('is none of the values')
  if (schema.const !== undefined && value !== schema.const) return wrong(`is not "${schema.const}"`)
  if (typeof value === 'string') return textViolation(value, schema).flatMap(wrong)
  if (typeof value === 'number') return numberViolation(value, schema).flatMap(wrong)
  if (Array.isArray(value)) {
    const { items, minItems = 0, maxItems = Number.POSITIVE_INFINITY } = schema
    if (value.length < minItems || value.length > maxItems) return wrong(`has ${value.length} items`)
    if (items === undefined) return []
    return value.flatMap((item, index) => violationsAbout(item, items, named, `${at}/${index}`))
  }
  return isObject(value) ? fieldViolations(value, schema, named, at) : []
}

function fieldViolations(
  value: Readonly<Record<string, unknown>>,
  { properties, additionalProperties, required = [], maxProperties = Number.POSITIVE_INFINITY }: Schema,
  named: Named,
  at: string,
): string[] {
  const names = Object.keys(value)
  const missing = required.filter(name => !Object.hasOwn(value, name))
  const schemaOf = (name: string): Schema | undefined =>
    properties !== undefined && Object.hasOwn(properties, name) ? properties[name] : additionalProperties
  const isListed = properties !== undefined || additionalProperties !== undefined
  return [
    ...missing.map(name => `${at}/${name} is missing`),
    ...(names.length > maxProperties ? [`${at || '/'} has ${names.length} fields`] : []),
    ...names.flatMap(name => {
      const schema = schemaOf(name)
      if (schema === undefined) return isListed ? [`${at}/${name} is not listed`] : []
      return violationsAbout(value[name], schema, named, `${at}/${name}`)
    }),
  ]
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

function isOfFormat(value: string | number, format: string | undefined): boolean {
  if (format === undefined) return true
  const test = FORMATS[format]
  if (test === undefined) throw new Error(`the document has the format "${format}", which is not checked`)
  return test(String(value))
}

function textViolation(text: string, { pattern, format, minLength = 0, maxLength }: Schema): string[] {
  const length = [...text].length
  if (pattern !== undefined && !new RegExp(pattern, 'u').test(text)) return [`does not match ${pattern}`]
  if (!isOfFormat(text, format)) return [`is not a ${format}`]
  if (length < minLength || length > (maxLength ?? Number.POSITIVE_INFINITY))
    return [`has ${length} characters`]
  return []
}

function numberViolation(value: number, schema: Schema): string[] {
  const { minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY } = schema
  if (!isOfFormat(value, schema.format)) return [`is not an ${schema.format}`]
  return value < minimum || value > maximum ? [`is not within ${minimum} and ${maximum}`] : []
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
