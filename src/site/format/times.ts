/** Times as pages show them. */
import { counted } from './numbers.ts'

export const day = (iso: string): string => iso.slice(0, 10)
export const minute = (iso: string): string => `${day(iso)} ${iso.slice(11, 16)} UTC`

/** `5h 42m`: how long ago a stream started. */
export function uptime(started_at: string, now: number): string {
  const minutes = Math.max(0, Math.floor((now - Date.parse(started_at)) / 60_000))
  return minutes < 60 ? `${minutes}m` : `${Math.floor(minutes / 60)}h ${minutes % 60}m`
}

const UNITS = [
  [86_400_000, 'day'],
  [3_600_000, 'hour'],
  [60_000, 'minute'],
] as const

/** Long times are rounded more. */
const LONG_UNITS = [[365 * 86_400_000, 'year'], [30 * 86_400_000, 'month'], ...UNITS] as const

/** `3 days ago` */
export function timeSince(iso: string, now: number): string {
  const passed = now - Date.parse(iso)
  const [length, name] = LONG_UNITS.find(([each]) => passed >= each) ?? [undefined, '']
  return length === undefined ? 'just now' : `${counted(Math.floor(passed / length), name, `${name}s`)} ago`
}

/** `in 3 days`: how long something takes that lies ahead. */
export function timeUntil(iso: string, now: number): string {
  const left = Date.parse(iso) - now
  const [length, name] = UNITS.find(([each]) => left >= each) ?? [undefined, '']
  return length === undefined
    ? 'in less than a minute'
    : `in ${counted(Math.floor(left / length), name, `${name}s`)}`
}
