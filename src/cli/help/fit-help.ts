import { displayWidth, wrap } from '../terminal/width.ts'

/** A term and its meaning: `  STRAND_LISTEN    address of the public listener`. */
const TERM = /^( {2}\S+ {2,}| +\S.*? {2,})(?=\S)/

/**
 * Fits a help page to a terminal. Paragraphs are filled again, the meaning of a term continues below its beginning, and
 * an example that is too long continues behind a backslash, so that it can still be copied.
 */
export function fitHelp(text: string, width: number): string {
  const fitted: string[] = []
  let paragraph: string[] = []
  const fill = () => {
    if (paragraph.length > 0) fitted.push(...wrap(paragraph.join(' '), width))
    paragraph = []
  }
  for (const line of text.split('\n')) {
    // A line that ends with a colon announces what is below it.
    if (/^\S.*[^:]$/.test(line)) {
      paragraph.push(line)
      continue
    }
    const announces = /^\S/.test(line)
    if (announces) paragraph.push(line)
    fill()
    if (!announces) fitted.push(...hang(line, width))
  }
  fill()
  return fitted.join('\n')
}

function hang(line: string, width: number): string[] {
  const [term] = TERM.exec(line) ?? []
  if (displayWidth(line) <= width) return [line]
  if (term === undefined) return continueCommand(line, width)
  const [first = '', ...rest] = wrap(line.slice(term.length), width - term.length)
  return [`${term}${first}`, ...rest.map(each => ' '.repeat(term.length) + each)]
}

/** A word of a command line with what is quoted in it; a flag has its value with it. */
const WORD = /(?:--\S+ (?!-))?(?:'[^']*'|"[^"]*"|\S)+/g

function continueCommand(line: string, width: number): string[] {
  const indent = line.search(/\S/)
  const lines: string[] = []
  let begun = ' '.repeat(indent)
  for (const word of line.match(WORD) ?? []) {
    const longer = begun.trim() === '' ? begun + word : `${begun} ${word}`
    // Two columns for the backslash.
    if (begun.trim() === '' || displayWidth(longer) <= width - 2) begun = longer
    else {
      lines.push(`${begun} \\`)
      begun = ' '.repeat(indent + 2) + word
    }
  }
  return [...lines, begun]
}
