/** Times for people: local time, or UTC with `--utc`. */
import type { Command } from 'commander'

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
/** As in `ls -l`: a short time further away than this has a year instead of a clock. */
const RECENT_MILLISECONDS = 180 * 86_400_000

export interface Zone {
  readonly utc: boolean
}

export function utcFlag(command: Command): Command {
  return command.option('--utc', 'show times in UTC instead of local time, on a terminal')
}

/** `2026-03-01 13:00:00` in local time, `2026-03-01 12:00:00Z` in UTC. A text that is no time is returned unchanged. */
export function longTime(text: string, { utc }: Zone): string {
  const digits = readDigits(text, utc)
  return digits === undefined ? text : `${digits.slice(0, 10)} ${digits.slice(11, 19)}${utc ? 'Z' : ''}`
}

/** `Mar  1 13:00`, or `Mar  1  2025` if that is half a year away. */
export function shortTime(text: string, { utc }: Zone, now: number): string {
  const digits = readDigits(text, utc)
  if (digits === undefined) return text
  const date = `${MONTHS[Number(digits.slice(5, 7)) - 1]} ${String(Number(digits.slice(8, 10))).padStart(2)}`
  const isRecent = Math.abs(now - Date.parse(text)) < RECENT_MILLISECONDS
  return isRecent ? `${date} ${digits.slice(11, 16)}${utc ? 'Z' : ''}` : `${date}  ${digits.slice(0, 4)}`
}

/** In the form of RFC 3339, in the given zone; undefined if the text is no time. */
function readDigits(text: string, utc: boolean): string | undefined {
  const date = new Date(text)
  if (Number.isNaN(date.getTime())) return undefined
  const offset = utc ? 0 : date.getTimezoneOffset() * 60_000
  return new Date(date.getTime() - offset).toISOString()
}
