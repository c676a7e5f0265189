/** Texts by the columns that they take on a terminal: wide characters take two, combining ones none. */

export const STANDARD_WIDTH = 80
const STANDARD_HEIGHT = 24

interface Stream {
  readonly isTTY?: boolean
  readonly columns?: number
  readonly rows?: number
}

/** The width of a terminal; undefined if the stream is none. */
export function widthOfTerminal({ isTTY, columns }: Stream): number | undefined {
  // A terminal without a size reports 0.
  return isTTY === true ? columns || STANDARD_WIDTH : undefined
}

export function heightOfTerminal({ rows }: Stream): number {
  return rows || STANDARD_HEIGHT
}

export function displayWidth(text: string): number {
  return Bun.stringWidth(text)
}

/** Cuts a text to a width; an ellipsis takes the place of what is missing. */
export function cut(text: string, width: number): string {
  if (displayWidth(text) <= width) return text
  if (width <= 0) return ''
  let kept = ''
  let used = 0
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    used += displayWidth(segment)
    if (used > width - 1) break
    kept += segment
  }
  return `${kept.trimEnd()}…`
}

/** Breaks a text at spaces into lines of at most this width. A longer word stays whole, so that it can be copied. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`
    if (line !== '' && displayWidth(longer) > width) {
      lines.push(line)
      line = word
    } else line = longer
  }
  return [...lines, line]
}
