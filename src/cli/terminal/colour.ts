/** Colour on a terminal, as https://no-color.org and FORCE_COLOR define it. */
import { environment } from '../../config/config.ts'

const CODES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 } as const
export type Style = keyof typeof CODES

/** Adds the codes of a style to a text. */
export type Paint = (text: string, style: Style | undefined) => string

export const withoutColour: Paint = text => text

export const withColour: Paint = (text, style) =>
  style === undefined || text === '' ? text : `\x1b[${CODES[style]}m${text}\x1b[0m`

type Environment = Readonly<Record<string, string | undefined>>

/** NO_COLOR turns colour off, FORCE_COLOR turns it on; without them a terminal has colour and anything else has none. */
export function paintFor(stream: { readonly isTTY?: boolean }, given: Environment = environment): Paint {
  return hasColour(stream, given) ? withColour : withoutColour
}

function hasColour({ isTTY }: { readonly isTTY?: boolean }, given: Environment): boolean {
  const { NO_COLOR = '', FORCE_COLOR, TERM } = given
  if (NO_COLOR !== '' || FORCE_COLOR === '0' || FORCE_COLOR === 'false') return false
  if (FORCE_COLOR !== undefined && FORCE_COLOR !== '') return true
  return isTTY === true && TERM !== 'dumb'
}
