import { isoSeconds } from '../kit/time/clock.ts'

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

/** `1h2m3s`, the form in which a video's URL takes a position. */
export function videoMoment(seconds: number): string {
  return `${Math.floor(seconds / 3600)}h${Math.floor(seconds / 60) % 60}m${seconds % 60}s`
}

/** `3h8m33s`, `3m21s`, `0s`: as `videoMoment`, but without leading units that are zero (D-90). */
export function durationText(seconds: number): string {
  return videoMoment(seconds).replace(/^0h(0m)?/, '')
}

const POSITION = /^(?:([0-9]{1,10})h)?(?:([0-9]{1,10})m)?(?:([0-9]{1,10})s?)?$/

/** The seconds of `1h2m3s`, `244s` or `244`; undefined if the text is no position in a video. */
export function parsePosition(text: string): number | undefined {
  const [whole, hours = 0, minutes = 0, seconds = 0] = POSITION.exec(text) ?? []
  if (!whole) return undefined
  const total = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)
  return total <= MAX_POSITION ? total : undefined
}

/** The duration of a video; so far, if the stream is live. Never negative, even if the clock moves back. */
export function videoSeconds(
  video: { readonly created_at: string; readonly ended_at: string | null },
  now: number,
): number {
  const end = video.ended_at === null ? now : Date.parse(video.ended_at)
  return Math.max(0, Math.floor((end - Date.parse(video.created_at)) / 1000))
}
