import type { TSchema } from 'typebox'

/** The part of a validator's error that the message is built from. */
export interface Violation {
  readonly keyword: string
  readonly schemaPath: string
  readonly instancePath: string
  readonly params: object
}

const ARTICLES: Readonly<Record<string, string>> = {
  string: 'a string',
  integer: 'an integer',
  number: 'a number',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
  null: 'null',
}

/** The name of the invalid field, without array indexes. Empty: the whole value. */
export function violatedField({ instancePath, schemaPath }: Violation): string {
  const path = instancePath.split('/').slice(1)
  const isNamed = /\/patternProperties\/[^/]*$/.test(schemaPath)
  while (!isNamed && path.length > 1 && /^[0-9]+$/.test(path.at(-1) ?? '')) path.pop()
  return path.map(name => name.replaceAll('~1', '/').replaceAll('~0', '~')).join('.')
}

/** What the value must be, as the end of a sentence. */
export function explainViolation(root: TSchema, violation: Violation): string {
  const params = violation.params as Record<string, unknown>
  const { limit } = params
  const known = knownFields(root, violation)
  if (known !== undefined) return `there is no such field; the fields are ${known.join(', ')}`
  const { hint, size } = schemaAt(root, violation.schemaPath)
  const value = violatedSubject(root, violation)
  const variants = hintOfUnion(root, violation)
  if (variants !== undefined) return `${value} must be ${variants}`
  if (size !== undefined && /^((min|max)Items|maxProperties)$/.test(violation.keyword))
    return `${value} must have ${size}`
  switch (violation.keyword) {
    case 'type':
      return `${value} must be ${ARTICLES[String(params.type)] ?? 'of another type'}`
    case 'enum':
      return `value must be one of ${(params.allowedValues as string[]).map(each => `"${each}"`).join(', ')}`
    case 'minimum':
    case 'minItems':
      return `${value} must be greater than or equal to ${limit}`
    case 'maximum':
    case 'maxItems':
    case 'maxProperties':
      return `${value} must be less than or equal to ${limit}`
    case 'minLength':
      return `${value} must be at least ${limit} characters`
    case 'maxLength':
      return `${value} must be at most ${limit} characters`
    default:
      return `${value} must be ${hint ?? 'of the documented form'}`
  }
}

/** The declared fields, if the violation is one that is not declared: nothing satisfies the schema of the others. */
export function knownFields(root: TSchema, { keyword, schemaPath }: Violation): string[] | undefined {
  const [, parent] = /^(.*)\/additionalProperties$/.exec(schemaPath) ?? []
  if (keyword !== 'boolean' || parent === undefined) return undefined
  return Object.keys(schemaAt(root, parent).properties ?? {})
}

/** Of a value that is of none of several forms, the first alone would mislead: the hint of the union names them all. */
function hintOfUnion(root: TSchema, { schemaPath }: Violation): unknown {
  const union = /^(.*)\/anyOf\/[0-9]+/.exec(schemaPath)?.[1]
  return union === undefined ? undefined : schemaAt(root, union).hint
}

/** The invalid value: in a list with a `size`, the entry by its position. */
function violatedSubject(root: TSchema, { schemaPath, instancePath }: Violation): string {
  const place = /\/([0-9]+)$/.exec(instancePath)?.[1]
  const list = /^(.*)\/items$/.exec(schemaPath)?.[1]
  if (place === undefined || list === undefined) return 'the value'
  return schemaAt(root, list).size === undefined ? 'the value' : `entry ${Number(place) + 1}`
}

function schemaAt(root: TSchema, schemaPath: string): Record<string, unknown> {
  let schema = root as unknown as Record<string, unknown>
  for (const step of schemaPath.split('/').slice(1)) {
    schema = (schema[step] ?? {}) as Record<string, unknown>
  }
  return schema
}
