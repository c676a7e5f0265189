/** Turns what a form contains into a request. Empty fields are not sent. */
import type { FormField, OperationForm } from './forms.ts'

/** The texts of the fields, by name. */
export type Values = Readonly<Record<string, string>>

export interface Prepared {
  readonly method: string
  /** Path and query string. */
  readonly target: string
  readonly headers: Readonly<Record<string, string>>
  readonly content?: string
  /** What keeps the request from being sent, by field. Everything else is up to the server. */
  readonly mistakes: Readonly<Record<string, string>>
}

const CONTENT_TYPES = {
  json: 'application/json',
  form: 'application/x-www-form-urlencoded',
  lines: 'application/x-ndjson',
} as const

export function prepare(form: OperationForm, values: Values): Prepared {
  const given = form.fields.filter(({ name }) => (values[name] ?? '').trim() !== '')
  const at = (place: FormField['place']) => given.filter(field => field.place === place)
  const fieldText = ({ name }: FormField) => values[name] ?? ''
  const mistakes: Record<string, string> = {}
  for (const field of form.fields) {
    if (field.place === 'path' && !given.includes(field)) mistakes[field.name] = 'The path needs a value.'
    if (field.kind === 'json' && given.includes(field) && !isJson(fieldText(field)))
      mistakes[field.name] = 'This is not JSON.'
  }
  const filled = form.path.replace(/\{(\w+)\}/g, (place, name: string) =>
    mistakes[name] === undefined ? encodeURIComponent((values[name] ?? '').trim()) : place,
  )
  const query = formatPairs(at('query'), fieldText)
  const content = requestContent(form, at('body'), fieldText)
  return {
    method: form.method,
    target: query === '' ? filled : `${filled}?${query}`,
    headers: {
      ...(content !== undefined && form.bodyType && { 'Content-Type': CONTENT_TYPES[form.bodyType] }),
      ...Object.fromEntries(at('header').map(field => [field.name, fieldText(field).trim()])),
    },
    ...(content !== undefined && { content }),
    mistakes,
  }
}

function requestContent(
  { bodyType }: OperationForm,
  fields: readonly FormField[],
  textOf: (field: FormField) => string,
): string | undefined {
  if (bodyType === undefined) return undefined
  if (bodyType === 'form') return formatPairs(fields, textOf)
  if (bodyType === 'lines') return fields.map(field => `${textOf(field).trimEnd()}\n`).join('')
  return JSON.stringify(
    Object.fromEntries(fields.map(field => [field.name, toJsonValue(field, textOf(field))])),
  )
}

function formatPairs(fields: readonly FormField[], textOf: (field: FormField) => string): string {
  return fields
    .flatMap(field =>
      (isList(field) ? splitLines(textOf(field)) : [textOf(field).trim()]).map(pair(field.name)),
    )
    .join('&')
}

const pair = (name: string) => (value: string) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`

const isList = ({ kind }: FormField) => kind === 'list' || kind === 'numbers'

const splitLines = (text: string) =>
  text
    .split('\n')
    .map(line => line.trim())
    .filter(Boolean)

/** As JSON has it. What is no number or boolean is sent as text: the server explains it best. */
function toJsonValue({ kind }: FormField, text: string): unknown {
  if (kind === 'list') return splitLines(text)
  if (kind === 'numbers') return splitLines(text).map(toNumber)
  if (kind === 'number') return toNumber(text.trim())
  if (kind === 'boolean') return text === 'true'
  return kind === 'json' && isJson(text) ? JSON.parse(text) : text
}

const toNumber = (text: string) => (Number.isFinite(Number(text)) ? Number(text) : text)

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
