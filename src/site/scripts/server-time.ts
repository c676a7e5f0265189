import { useEffect, useState } from 'preact/hooks'

/** The time of the server, in milliseconds since 1970; it moves in steps. The first one is that of the rendered page. */
export function useServerTime(start: number, stepMilliseconds: number): number {
  const [now, setNow] = useState(start)
  useEffect(() => {
    const ahead = start - Date.now()
    const timer = setInterval(() => setNow(Date.now() + ahead), stepMilliseconds)
    return () => clearInterval(timer)
  }, [])
  return now
}
