import { must } from './must.ts'

/** HTML as a value: the `html` template escapes everything that is not `Html` already. */
export class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

type Piece = Html | string | number | undefined | false | readonly Piece[]

export function html(strings: TemplateStringsArray, ...pieces: Piece[]): Html {
  let text = must(strings[0], 'the first string of a template')
  pieces.forEach((piece, index) => {
    text += write(piece) + must(strings[index + 1], 'a string of a template')
  })
  return new Html(text)
}

function write(piece: Piece): string {
  if (piece instanceof Html) return piece.text
  if (Array.isArray(piece)) return piece.map(write).join('')
  if (piece === undefined || piece === false) return ''
  return escapeHtml(String(piece))
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, character => must(ESCAPES[character], `the escape of ${character}`))
}
