/**
 * A report of viewer counts, read from its text: `{"counts": {"<user id>": <viewers>}}`. There may be 10,000 of them, and
 * an object with so many numbers for names takes long to read and to check. So the text goes as it is to the thread that
 * writes, and is read there, by this.
 */
import type { ProblemDetails, ProblemName } from '../contract/problem.ts'

const MAX_CHANNELS = 10_000
const MAX_VIEWERS = 2_000_000_000

const USER_ID = /^[0-9]{1,19}$/

export type Count = readonly [user_id: string, viewers: number]

/** What is wrong with the report, as a problem to raise. */
export type Violation = {
  [N in ProblemName]: { readonly name: N; readonly details: ProblemDetails<N> }
}['malformed_json' | 'missing_parameter' | 'malformed_parameter']

export function readViewerReport(text: string): { counts: Count[] } | { violation: Violation } {
  let report: unknown
  try {
    report = text === '' ? {} : JSON.parse(text)
  } catch {
    return { violation: { name: 'malformed_json', details: [] } }
  }
  if (!isObject(report)) return { violation: { name: 'malformed_json', details: [] } }
  if (!Object.hasOwn(report, 'counts'))
    return { violation: { name: 'missing_parameter', details: ['counts'] } }
  if (!isObject(report.counts)) return malformed('counts', 'the value must be an object')
  const counts = Object.entries(report.counts)
  if (counts.length > MAX_CHANNELS) {
    return malformed('counts', `the value must have at most ${MAX_CHANNELS.toLocaleString('en-US')} entries`)
  }
  const read: Count[] = []
  for (const [user_id, viewers] of counts) {
    const isId = USER_ID.test(user_id)
    if (!isId && (!user_id.isWellFormed() || user_id.includes('\0'))) {
      return malformed('counts', 'the value must be well-formed Unicode without U+0000')
    }
    const why = typeof viewers === 'number' ? wrongWith(viewers) : 'the value must be an integer'
    if (why !== undefined) return malformed(`counts.${user_id}`, why)
    // What cannot be a user id names nobody, and is passed over like everybody who is not live.
    if (isId) read.push([user_id, viewers as number])
  }
  return { counts: read }
}

function wrongWith(viewers: number): string | undefined {
  if (!Number.isInteger(viewers)) return 'the value must be an integer'
  if (viewers < 0) return 'the value must be greater than or equal to 0'
  return viewers > MAX_VIEWERS ? `the value must be less than or equal to ${MAX_VIEWERS}` : undefined
}

function malformed(name: string, why: string): { violation: Violation } {
  return { violation: { name: 'malformed_parameter', details: [name, why] } }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
