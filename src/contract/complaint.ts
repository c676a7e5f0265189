import type { TSchema } from 'typebox'

/** The part of a validator's complaint that a sentence is made from. */
export interface Complaint {
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

/** The name of the field that a complaint is about: places in a list are left out. Empty: the whole. */
export function fieldOf({ instancePath }: Complaint): string {
  const path = instancePath.split('/').slice(1)
  while (path.length > 1 && /^[0-9]+$/.test(path.at(-1) ?? '')) path.pop()
  return path.join('.')
}

/** What a value must be, as the end of a sentence. */
export function reasonOf(root: TSchema, complaint: Complaint): string {
  const params = complaint.params as Record<string, unknown>
  const { limit } = params
  switch (complaint.keyword) {
    case 'type':
      return `the value must be ${ARTICLES[String(params.type)] ?? 'of another type'}`
    case 'enum':
      return `value must be one of ${(params.allowedValues as string[]).map(value => `"${value}"`).join(', ')}`
    case 'minimum':
    case 'minItems':
      return `the value must be greater than or equal to ${limit}`
    case 'maximum':
    case 'maxItems':
    case 'maxProperties':
      return `the value must be less than or equal to ${limit}`
    case 'minLength':
      return `the value must be at least ${limit} characters`
    case 'maxLength':
      return `the value must be at most ${limit} characters`
    default:
      return `the value must be ${schemaAt(root, complaint).hint ?? 'of the documented form'}`
  }
}

function schemaAt(root: TSchema, { schemaPath }: Complaint): Record<string, unknown> {
  let schema = root as unknown as Record<string, unknown>
  for (const step of schemaPath.split('/').slice(1)) {
    schema = (schema[step] ?? {}) as Record<string, unknown>
  }
  return schema
}
