import { raise } from '../contract/problem.ts'
import { isoSeconds, parseTimestamp } from '../kit/time/clock.ts'

/**
 * Parses a timestamp of a control request. Its pattern allows days that do not exist, such as 31 April; those are
 * malformed input, which is thrown as in `http/endpoint/parse.ts`.
 */
export function toTimestamp(text: string): number {
  return (
    parseTimestamp(text) ??
    raise('refused_reference', `The timestamp "${text}" does not exist in the calendar.`)
  )
}

/** Whole seconds of a timestamp that must not be in the future; undefined if none is given. */
export function parsePastSecond(name: string, text: string | undefined, now: number): string | undefined {
  if (text === undefined) return undefined
  const timestamp = toTimestamp(text)
  if (timestamp > now) raise('refused_reference', `The parameter "${name}" must not be in the future.`)
  return isoSeconds(timestamp)
}
