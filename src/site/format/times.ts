/** Times as pages show them. */
import { counted } from './numbers.ts'

export const day = (iso: string): string => iso.slice(0, 10)
export const minute = (iso: string): string => `${day(iso)} ${iso.slice(11, 16)} UTC`
export const second = (iso: string): string => `${day(iso)} ${iso.slice(11, 19)} UTC`

/** `5h 42m`: how long ago a stream started. */
export function uptime(started_at: string, now: number): string {
  const minutes = Math.max(0, Math.floor((now - Date.parse(started_at)) / 60_000))
  return minutes < 60 ? `${minutes}m` : `${Math.floor(minutes / 60)}h ${minutes % 60}m`
}

const DAY = 86_400_000
const UNITS = [
  [DAY, 'day'],
  [3_600_000, 'hour'],
  [60_000, 'minute'],
] as const

/** What is long past needs no days. */
const PAST_UNITS = [[365 * DAY, 'year'], [30 * DAY, 'month'], ...UNITS] as const

/** `3 days ago` */
export function timeSince(iso: string, now: number): string {
  const passed = now - Date.parse(iso)
  const [length, name] = PAST_UNITS.find(([each]) => passed >= each) ?? [undefined, '']
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
