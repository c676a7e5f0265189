import type { TSchema } from 'typebox'
import { type Problem, problem } from '../contract/problem.ts'
import { fieldOf, reasonOf, type Violation } from '../contract/violation.ts'

/** Turns the first complaint about some input into the problem that the caller reads, in the words of D-10. */
export function explain(schema: TSchema, violation: Violation): Problem {
  if (violation.keyword === 'required') {
    const [missing] = (violation.params as { requiredProperties: string[] }).requiredProperties
    const path = violation.instancePath.split('/').slice(1)
    return problem('missing_parameter', [...path, missing].join('.'))
  }
  return problem('malformed_parameter', fieldOf(violation) || 'body', reasonOf(schema, violation))
}
