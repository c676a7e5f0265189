import { raise } from '../contract/problem.ts'
import { parseTimestamp } from '../kit/clock.ts'

/** The milliseconds of a time that the operator gave. Its pattern admits a 31st of April; the calendar does not. */
export function timestampOf(text: string): number {
  return parseTimestamp(text) ?? raise('refused_reference', `There is no such moment as "${text}".`)
}
