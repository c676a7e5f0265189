import { useEffect } from 'preact/hooks'
import { SessionEnded } from './page-token.ts'

const MAX_WAIT_MILLISECONDS = 60_000

/**
 * Repeats work while the page is visible: less often after failures, as often as before after a success. Returns what stops
 * it. `work` gets the number of its turn.
 */
export function everyFewSeconds(milliseconds: number, work: (turn: number) => Promise<void>): () => void {
  let wait = milliseconds
  let turn = 0
  let timer: ReturnType<typeof setTimeout>
  const run = async () => {
    if (document.visibilityState === 'visible')
      try {
        await work(turn++)
        wait = milliseconds
      } catch (error) {
        // Nothing but loading the page again brings a token.
        if (error instanceof SessionEnded) return
        wait = Math.min(wait * 2, MAX_WAIT_MILLISECONDS)
      }
    timer = setTimeout(run, wait)
  }
  timer = setTimeout(run, wait)
  return () => clearTimeout(timer)
}

/** The same for as long as a component is shown. */
export function useEveryFewSeconds(milliseconds: number, work: (turn: number) => Promise<void>): void {
  useEffect(() => everyFewSeconds(milliseconds, work), [])
}
