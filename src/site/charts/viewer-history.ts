/** How many people watched a stream since the studio was opened. It survives a reload of the page in the same tab. */
export interface History {
  readonly stream_id: string
  /** Seconds since 1970. */
  readonly times: readonly number[]
  readonly viewers: readonly number[]
}

interface Watched {
  readonly id: string
  readonly viewer_count: number
}

/** Two hours of a point every three seconds. */
const MAX_POINTS = 2400
const NAME = 'strand-viewers'

export function readHistory(stream: Watched | undefined, now: number): History {
  return stream === undefined
    ? { stream_id: '', times: [], viewers: [] }
    : { stream_id: stream.id, times: [Math.floor(now / 1000)], viewers: [stream.viewer_count] }
}

/** Starts over with another stream. A clock that was set back adds nothing: times ascend. */
export function addPoint(history: History, stream: Watched, now: number): History {
  if (history.stream_id !== stream.id) return readHistory(stream, now)
  const time = Math.floor(now / 1000)
  if (time <= (history.times.at(-1) ?? 0)) return history
  return {
    stream_id: stream.id,
    times: [...history.times, time].slice(-MAX_POINTS),
    viewers: [...history.viewers, stream.viewer_count].slice(-MAX_POINTS),
  }
}

export function keepHistory(history: History): void {
  try {
    sessionStorage.setItem(NAME, JSON.stringify(history))
  } catch {
    // Storage is full or switched off: a reload starts over.
  }
}

/** What was kept of this stream. */
export function keptHistory(stream_id: string): History | undefined {
  try {
    const kept = JSON.parse(sessionStorage.getItem(NAME) ?? 'null') as History | null
    return kept?.stream_id === stream_id ? kept : undefined
  } catch {
    return undefined
  }
}
