/** A screen that repaints: the alternate screen of the terminal, so that what was there before comes back at the end. */
import { UsageError } from '../usage-error.ts'
import { Interrupted, onStopSignal } from './interruption.ts'
import { cut, heightOfTerminal, widthOfTerminal } from './width.ts'

const REFRESH_MILLISECONDS = 2000
const ENTER = '\x1b[?1049h\x1b[?25l'
const LEAVE = '\x1b[?25h\x1b[?1049l'

/** Something to watch. */
interface Watched {
  readonly title: string
  /** The current text. */
  read(): Promise<string>
}

export function requireTerminal(): void {
  if (process.stdout.isTTY !== true)
    throw new UsageError('--watch requires a terminal: without it, run the command again')
}

/** Repaints every two seconds, and when the terminal is resized, until Ctrl-C. A failed refresh keeps what was read before. */
export async function watchScreen({ title, read }: Watched): Promise<never> {
  const out = process.stdout
  let text = await read()
  let state = ''
  let wake: () => void = () => undefined
  let isResized = false
  let stopped: 'SIGINT' | 'SIGTERM' | undefined
  const paint = () => out.write(frame(headline(title, state), text, screenSize(out)))
  const onResize = () => {
    isResized = true
    wake()
  }
  const ignoreSignals = onStopSignal(signal => {
    stopped = signal
    wake()
  })
  out.on('resize', onResize)
  out.write(ENTER)
  try {
    while (stopped === undefined) {
      paint()
      isResized = false
      await new Promise<void>(resolve => {
        wake = resolve
        setTimeout(resolve, REFRESH_MILLISECONDS)
      })
      if (stopped !== undefined) break
      // A table is made for a width, so it is read again for another.
      if (isResized) paint()
      try {
        text = await read()
        state = ''
      } catch (error) {
        state = `cannot refresh: ${(error as Error).message}`
      }
    }
  } finally {
    out.write(LEAVE)
    out.off('resize', onResize)
    ignoreSignals()
  }
  throw new Interrupted('', stopped)
}

function headline(title: string, state: string): string {
  const time = new Date().toTimeString().slice(0, 8)
  return `${title}  ${time}  ${state === '' ? 'every 2 s, Ctrl-C ends' : state}`
}

interface Size {
  readonly width: number
  readonly height: number
}

function screenSize(out: NodeJS.WriteStream): Size {
  return { width: widthOfTerminal(out) ?? 80, height: heightOfTerminal(out) }
}

/** One screen: the headline, an empty line, and as many lines of the text as fit; the rest of the screen is cleared. */
export function frame(head: string, text: string, { width, height }: Size): string {
  const lines = text.split('\n').slice(0, -1)
  const place = Math.max(1, height - 2)
  const shown =
    lines.length <= place ? lines : [...lines.slice(0, place - 1), `… ${lines.length - place + 1} more`]
  const all = [cut(head, width), '', ...shown]
  // No newline after the last line, which would scroll the screen.
  return `\x1b[H${all.map(line => `${line}\x1b[K`).join('\r\n')}\x1b[J`
}
