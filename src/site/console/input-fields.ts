/** The inputs of an operation as fields of a form, from its declaration, and a form as inputs of the operation. */
import type { ChoiceGroup, FormAction } from '../../contract/admin/resource.ts'
import { type Operation, queryParameters } from '../../contract/operation.ts'
import { GivenTime } from '../../contract/resources/id.ts'
import type { JsonSchema } from '../../contract/schema.ts'
import type { Pairs } from '../../kit/text.ts'
import { toLabel } from './labels.ts'
import type { Row } from './operator-api.ts'

export interface InputField {
  readonly name: string
  readonly label: string
  readonly kind: 'text' | 'long' | 'number' | 'choice' | 'yes-no' | 'lines' | 'rows' | 'time' | 'secret'
  readonly choices: readonly string[]
  /** The same with what each means; empty if that is not known. */
  readonly groups: readonly ChoiceGroup[]
  readonly required: boolean
  /** An empty field means null in an edit. */
  readonly isNullable: boolean
  readonly min: number | undefined
  readonly max: number | undefined
  /** Whether a number may have decimals. */
  readonly isDecimal: boolean
  readonly maxLength: number | undefined
  readonly hint: string | undefined
  /** The fields of each entry, if the input is a list of objects, and how many there may be. */
  readonly fields: readonly InputField[]
  readonly mostRows: number
}

/** From this length on a text gets several lines. */
const LONG = 200
/** These are long only in theory. */
const ONE_LINE = new Set(['email', 'link_url'])

/** The input of an action that takes the key of its row. */
export function findKeyInput({ form, operation }: FormAction): string | undefined {
  return form.by ?? Object.keys(operation.params?.properties ?? {})[0]
}

/** The fields of the form of an action. `hasRow`: the row is given, so its key is no field. */
export function actionFields(action: FormAction, hasRow: boolean): InputField[] {
  const { params, body } = action.operation as { params?: JsonSchema; body?: JsonSchema } & Operation
  const { each, omit = [], generates, required = [], shows, choices = {} } = action.form
  const list = body?.properties?.[action.bulk ?? '']?.items
  const left = new Set([...omit, generates, ...(hasRow ? [findKeyInput(action)] : [])])
  const query = shows && (queryParameters(action.operation) as unknown as JsonSchema)
  return [...fieldsIn(params), ...fieldsIn(query), ...fieldsIn(list ?? body)]
    .filter(({ name }) => !left.has(name))
    .map(field => (required.includes(field.name) ? { ...field, required: true } : field))
    .map(field => ({ ...field, groups: choices[field.name] ?? [] }))
    .map(field =>
      field.name === each
        ? { ...field, name: linesName(each), kind: 'lines', label: `${field.label}s` }
        : field,
    )
}

/** The field with one entry of the list per line. */
export const linesName = (each: string): string => `${each}s`

const PAGING = new Set(['first', 'after', 'before'])

/** The filters of a list. */
export function filterFields(list: Operation, wanted: readonly string[] | undefined): InputField[] {
  const fields = fieldsIn(queryParameters(list) as unknown as JsonSchema)
  return wanted === undefined
    ? fields.filter(({ name }) => !PAGING.has(name))
    : wanted.flatMap(name => fields.filter(field => field.name === name))
}

function fieldsIn(schema: JsonSchema | undefined): InputField[] {
  return Object.entries(schema?.properties ?? {}).map(([name, each]) => {
    const variants = each.anyOf ?? [each]
    const main = variants.find(({ type }) => type !== 'null') ?? each
    const inner = main.type === 'array' ? (main.items ?? {}) : main
    const kind = chooseKind(name, main)
    // The form of a time is up to the picker.
    const form = kind === 'time' ? undefined : inner.hint
    return {
      name,
      label: toLabel(name),
      kind,
      choices: main.enum ?? [],
      groups: [],
      required: schema?.required?.includes(name) ?? false,
      isNullable: variants.some(({ type }) => type === 'null'),
      min: main.minimum,
      max: main.maximum,
      isDecimal: main.type === 'number',
      maxLength: inner.maxLength,
      hint: shortHint(each.description ?? main.description ?? form, schema?.properties ?? {}),
      fields: inner.type === 'object' ? fieldsIn(inner) : [],
      mostRows: main.maxItems ?? 0,
    }
  })
}

function chooseKind(
  name: string,
  { type, enum: choices, maxLength = 0, hint, items }: JsonSchema,
): InputField['kind'] {
  if (name === 'password') return 'secret'
  if (choices !== undefined) return 'choice'
  if (type === 'integer' || type === 'number') return 'number'
  if (type === 'boolean') return 'yes-no'
  if (type === 'array') return items?.type === 'object' ? 'rows' : 'lines'
  if (hint !== undefined && hint === (GivenTime as JsonSchema).hint) return 'time'
  return maxLength > LONG && !ONE_LINE.has(name) ? 'long' : 'text'
}

/** A description is written for programs: the names of other inputs become their labels. */
function shortHint(text: string | undefined, inputs: object): string | undefined {
  if (text === undefined) return undefined
  const plain = text
    .replaceAll(/`([^`]*)`/g, (_, word: string) =>
      Object.hasOwn(inputs, word) ? `“${toLabel(word)}”` : word,
    )
    .replace(/\.$/, '')
  return `${plain.charAt(0).toUpperCase()}${plain.slice(1)}.`
}

/** A value as a form shows it. */
export function valueText(value: unknown): string {
  if (value === null || value === undefined) return ''
  return Array.isArray(value) ? value.join('\n') : String(value)
}

/** The name of the hidden field with the value that a form started with. */
export const startName = (name: string): string => `was.${name}`

/**
 * The inputs that a form gives. In an edit, a field that was left as it was is no input, so that what others
 * changed in the meantime is kept, and an empty field is a value. Otherwise an empty field is no input.
 */
export function readInputs(fields: readonly InputField[], form: Pairs): Row {
  const given = new Map(form)
  const inputs: Record<string, unknown> = {}
  for (const field of fields) {
    if (field.kind === 'rows') {
      const rows = readRows(field, given)
      const before = given.get(startName(field.name))
      if (before === undefined ? rows.length > 0 : JSON.stringify(rows) !== before)
        inputs[field.name] = rows.map(row => parseRow(field, row))
      continue
    }
    const value = given.get(field.name)
    if (value === undefined) continue
    const text = textIn(field, value)
    const start = given.get(startName(field.name))
    const isLeft = start === undefined ? text === '' : text === textIn(field, start) && !field.required
    if (isLeft) continue
    inputs[field.name] = parseInput(field, text)
  }
  return inputs
}

/** The texts of an entry in a list of objects, by field. */
export type RowTexts = Readonly<Record<string, string>>

/** The name of a field of an entry. */
export const rowFieldName = (name: string, row: number, field: string): string => `${name}.${row}.${field}`

/** The id of an entry is given, not typed, so that a form which is sent twice makes no second one. */
export const ROW_ID = 'id'

/** The entries of a form. Those in which everything is empty are left out. */
function readRows({ name, fields, mostRows }: InputField, given: ReadonlyMap<string, string>): RowTexts[] {
  const rows: RowTexts[] = []
  for (let row = 0; row < mostRows && given.has(rowFieldName(name, row, ROW_ID)); row++) {
    const texts = fields.map(
      field => [field.name, textIn(field, given.get(rowFieldName(name, row, field.name)) ?? '')] as const,
    )
    if (texts.some(([field, text]) => field !== ROW_ID && text !== '')) rows.push(Object.fromEntries(texts))
  }
  return rows
}

const parseRow = ({ fields }: InputField, texts: RowTexts): Row =>
  Object.fromEntries(fields.map(field => [field.name, parseInput(field, texts[field.name] ?? '')]))

/** A time as browsers give it, without seconds if they are 0, and without a zone. */
const LOCAL_TIME = /^(\d{4}-\d\d-\d\dT\d\d:\d\d)(:\d\d(?:\.\d+)?)?$/

/** Browsers send line breaks as CR LF. Times are UTC. */
export function textIn({ kind }: InputField, text: string): string {
  if (kind === 'secret') return text
  const trimmed = text.replaceAll('\r\n', '\n').trim()
  const [, minute, seconds = ':00'] = (kind === 'time' && LOCAL_TIME.exec(trimmed)) || []
  return minute === undefined ? trimmed : `${minute}${seconds}Z`
}

function parseInput({ kind, isNullable }: InputField, text: string): unknown {
  if (kind === 'lines') return linesIn(text)
  if (text === '' && isNullable) return null
  if (kind === 'yes-no') return text === 'true'
  return kind === 'number' && /^-?[0-9]{1,15}(\.[0-9]{1,9})?$/.test(text) ? Number(text) : text
}

const linesIn = (text: string): string[] =>
  text
    .split('\n')
    .map(line => line.trim())
    .filter(line => line !== '')
