/** Whether the player of this page is one of the viewers that the page counts: it is shown before the server has counted it (D-259). */
import { useEffect, useRef, useState } from 'preact/hooks'

/** By then the server has counted it, and the page has asked for the count. */
const COUNTED_MILLISECONDS = 15_000

let isWatching = false
const listeners = new Set<() => void>()

export function setWatching(value: boolean): void {
  if (value === isWatching) return
  isWatching = value
  for (const listener of listeners) listener()
}

/** The count with the viewer of this page: one more at once, and never none while it watches. */
export function useOwnViewer(count: number): number {
  const [least, setLeast] = useState(0)
  const latest = useRef(count)
  latest.current = count
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const update = () => {
      clearTimeout(timer)
      setLeast(isWatching ? latest.current + 1 : 0)
      if (isWatching) timer = setTimeout(() => setLeast(1), COUNTED_MILLISECONDS)
    }
    if (isWatching) update()
    listeners.add(update)
    return () => {
      clearTimeout(timer)
      listeners.delete(update)
    }
  }, [])
  return Math.max(count, least)
}
