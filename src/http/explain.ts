import type { TSchema } from 'typebox'
import { type Complaint, fieldOf, reasonOf } from '../contract/complaint.ts'
import { type Problem, problem } from '../contract/problem.ts'

/** Turns the first complaint about some input into the problem that the caller reads, in the words of D-10. */
export function explain(schema: TSchema, complaint: Complaint): Problem {
  if (complaint.keyword === 'required') {
    const [missing] = (complaint.params as { requiredProperties: string[] }).requiredProperties
    const path = complaint.instancePath.split('/').slice(1)
    return problem('missing_parameter', [...path, missing].join('.'))
  }
  return problem('malformed_parameter', fieldOf(complaint) || 'body', reasonOf(schema, complaint))
}
