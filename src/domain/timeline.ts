import { isoSeconds } from '../kit/clock.ts'

/** 68 years: the largest whole number that both stores and every client hold. */
const MAX_POSITION = 2 ** 31 - 1

/**
 * Where a marker stands: whole seconds since the stream started, never negative, and never before a marker that the
 * stream already has, whatever the clock does (D-38). Both ends are cut to the second first, so that a client that
 * subtracts `started_at` from `created_at` finds the same number.
 */
export function markerPosition(started_at: string, now: number, latest: number | undefined): number {
  const elapsed = (Date.parse(isoSeconds(now)) - Date.parse(started_at)) / 1000
  return Math.min(Math.max(elapsed, latest ?? 0, 0), MAX_POSITION)
}

/** Whole seconds from a stored moment on; never negative, whatever the clock does. */
export function secondsBetween(from: string, to: number): number {
  return Math.max(0, Math.floor((to - Date.parse(from)) / 1000))
}

/** `1h2m3s`, the way a video's page takes a moment. */
export function videoMoment(seconds: number): string {
  return `${Math.floor(seconds / 3600)}h${Math.floor(seconds / 60) % 60}m${seconds % 60}s`
}
