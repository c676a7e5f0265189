/** A JSON value as source code. What does not fit into a line has a line for each member. */
export interface Notation {
  readonly indent: string
  string(text: string): string
  /** The name of a member. */
  name(text: string): string
  /** What stands for `true`, `false` and `null`. */
  readonly words: Readonly<Record<string, string>>
  /** Beside the braces of an object that fits into a line. */
  readonly padding: '' | ' '
  /** Whether a comma may follow the last member of several lines. */
  readonly endsWithComma: boolean
}

const COLUMNS = 60

const singleQuoted = (text: string) =>
  `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`

const JSON_WORDS = { true: 'true', false: 'false', null: 'null' }

export const JSON_NOTATION: Notation = {
  indent: '  ',
  string: JSON.stringify,
  name: JSON.stringify,
  words: JSON_WORDS,
  padding: '',
  endsWithComma: false,
}

export const TYPESCRIPT_NOTATION: Notation = {
  indent: '  ',
  string: singleQuoted,
  name: text => (/^[A-Za-z_]\w*$/.test(text) ? text : singleQuoted(text)),
  words: JSON_WORDS,
  padding: ' ',
  endsWithComma: true,
}

export const PYTHON_NOTATION: Notation = {
  indent: '    ',
  string: singleQuoted,
  name: singleQuoted,
  words: { true: 'True', false: 'False', null: 'None' },
  padding: '',
  endsWithComma: true,
}

/** `margin`: the indentation of the line that the value begins on. */
export function formatLiteral(value: unknown, notation: Notation, margin = ''): string {
  if (typeof value === 'string') return notation.string(value)
  if (typeof value !== 'object' || value === null) return notation.words[String(value)] ?? String(value)
  const isList = Array.isArray(value)
  const inner = margin + notation.indent
  const members = isList
    ? value.map(each => formatLiteral(each, notation, inner))
    : Object.entries(value).map(
        ([name, each]) => `${notation.name(name)}: ${formatLiteral(each, notation, inner)}`,
      )
  const [open, close] = isList ? '[]' : '{}'
  if (members.length === 0) return `${open}${close}`
  const padding = isList ? '' : notation.padding
  const line = `${open}${padding}${members.join(', ')}${padding}${close}`
  if (!line.includes('\n') && margin.length + line.length <= COLUMNS) return line
  const last = notation.endsWithComma ? ',' : ''
  return `${open}\n${members.map(each => inner + each).join(',\n')}${last}\n${margin}${close}`
}
