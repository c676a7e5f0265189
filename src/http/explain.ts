import type { TSchema } from 'typebox'
import { type Problem, problem } from '../contract/problem.ts'

/** The part of a validator's complaint that a sentence is made from. */
interface Complaint {
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

/** Turns the first complaint about some input into the problem that the caller reads, in the words of D-10. */
export function explain(schema: TSchema, complaint: Complaint): Problem {
  const params = complaint.params as Record<string, unknown>
  const path = complaint.instancePath.split('/').slice(1)
  if (complaint.keyword === 'required') {
    const [missing] = params.requiredProperties as string[]
    return problem('missing_parameter', [...path, missing].join('.'))
  }
  while (path.length > 1 && /^[0-9]+$/.test(path.at(-1) ?? '')) path.pop()
  return problem(
    'malformed_parameter',
    path.join('.') || 'body',
    reason(complaint.keyword, params, schemaAt(schema, complaint)),
  )
}

function reason(keyword: string, params: Record<string, unknown>, schema: Record<string, unknown>): string {
  const { limit } = params
  switch (keyword) {
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
      return `the value must be ${schema.hint ?? 'of the documented form'}`
  }
}

function schemaAt(root: TSchema, { schemaPath }: Complaint): Record<string, unknown> {
  let schema = root as unknown as Record<string, unknown>
  for (const step of schemaPath.split('/').slice(1)) {
    schema = (schema[step] ?? {}) as Record<string, unknown>
  }
  return schema
}
