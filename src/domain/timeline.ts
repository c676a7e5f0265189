import { isoSeconds } from '../kit/clock.ts'

/** 68 years: the largest integer that both stores and all clients support. */
const MAX_POSITION = 2 ** 31 - 1

/**
 * The position of a marker: whole seconds since the stream started, never negative and never before an existing marker of
 * the stream, even if the clock moves back (D-38). Both times are truncated to seconds first, so that `created_at` minus
 * `started_at` gives the same number.
 */
export function markerPosition(started_at: string, now: number, latest: number | undefined): number {
  const elapsed = (Date.parse(isoSeconds(now)) - Date.parse(started_at)) / 1000
  return Math.min(Math.max(elapsed, latest ?? 0, 0), MAX_POSITION)
}

/** Whole seconds since a stored time; never negative, even if the clock moves back. */
export function secondsBetween(from: string, to: number): number {
  return Math.max(0, Math.floor((to - Date.parse(from)) / 1000))
}

/** `1h2m3s`, the form in which a video's URL takes a position. */
export function videoMoment(seconds: number): string {
  return `${Math.floor(seconds / 3600)}h${Math.floor(seconds / 60) % 60}m${seconds % 60}s`
}
