/** As a browser describes it. */
interface Buffered {
  readonly length: number
  start(index: number): number
  end(index: number): number
}

/** Playback this close to the end of what is buffered does not move by itself. */
const NEAR_SECONDS = 0.3

/**
 * Where to continue if playback stands before a gap: timestamps jump after a reconnect, and where a slow viewer was skipped
 * forward. Undefined: there is nothing behind the gap yet.
 */
export function startBehindGap(
  ranges: readonly { readonly start: number; readonly end: number }[],
  time: number,
): number | undefined {
  const isInside = ranges.some(({ start, end }) => start <= time && time < end - NEAR_SECONDS)
  return isInside ? undefined : ranges.find(({ start }) => start > time)?.start
}

/** The parts of a video that are buffered. */
export const bufferedRanges = (buffered: Buffered) =>
  Array.from({ length: buffered.length }, (_, at) => ({ start: buffered.start(at), end: buffered.end(at) }))
