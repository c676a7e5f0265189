import { raise } from '../contract/problem.ts'
import { parseMoment } from '../kit/clock.ts'

/** The milliseconds of a time that the operator gave. Its pattern admits a 31st of April; the calendar does not. */
export function momentOf(text: string): number {
  return parseMoment(text) ?? raise('refused_reference', `There is no such moment as "${text}".`)
}
