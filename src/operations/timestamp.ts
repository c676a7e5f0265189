import { raise } from '../contract/problem.ts'
import { parseTimestamp } from '../kit/clock.ts'

/** Parses a timestamp of a control request. Its pattern allows days that do not exist, such as 31 April. */
export function timestampOf(text: string): number {
  return (
    parseTimestamp(text) ??
    raise('refused_reference', `The timestamp "${text}" does not exist in the calendar.`)
  )
}
