/** The inputs of an operation as fields of a form, from its declaration, and a form as inputs of the operation. */
import type { FormAction } from '../../contract/admin/resource.ts'
import { type Operation, queryParameters } from '../../contract/operation.ts'
import type { JsonSchema } from '../../contract/schema.ts'
import type { Pairs } from '../../kit/text.ts'
import { toLabel } from './labels.ts'
import type { Row } from './operator-api.ts'

export interface InputField {
  readonly name: string
  readonly label: string
  readonly kind: 'text' | 'long' | 'number' | 'choice' | 'yes-no' | 'lines' | 'secret'
  readonly choices: readonly string[]
  readonly required: boolean
  /** An empty field means null in an edit. */
  readonly isNullable: boolean
  readonly min: number | undefined
  readonly max: number | undefined
  /** Whether a number may have decimals. */
  readonly isDecimal: boolean
  readonly maxLength: number | undefined
  readonly hint: string | undefined
}

/** From this length on a text gets several lines. */
const LONG = 200

/** The input of an action that takes the key of its row. */
export function findKeyInput({ form, operation }: FormAction): string | undefined {
  return form.by ?? Object.keys(operation.params?.properties ?? {})[0]
}

/** The fields of the form of an action. `hasRow`: the row is given, so its key is no field. */
export function actionFields(action: FormAction, hasRow: boolean): InputField[] {
  const { params, body } = action.operation as { params?: JsonSchema; body?: JsonSchema } & Operation
  const { each, omit = [] } = action.form
  const list = body?.properties?.[action.bulk ?? '']?.items
  const left = new Set([...omit, ...(hasRow ? [findKeyInput(action)] : [])])
  return [...fieldsIn(params), ...fieldsIn(list ?? body)]
    .filter(({ name }) => !left.has(name))
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
    return {
      name,
      label: toLabel(name),
      kind: chooseKind(name, main),
      choices: main.enum ?? [],
      required: schema?.required?.includes(name) ?? false,
      isNullable: variants.some(({ type }) => type === 'null'),
      min: main.minimum,
      max: main.maximum,
      isDecimal: main.type === 'number',
      maxLength: inner.maxLength,
      hint: shortHint(each.description ?? main.description ?? inner.hint),
    }
  })
}

function chooseKind(name: string, { type, enum: choices, maxLength = 0 }: JsonSchema): InputField['kind'] {
  if (name === 'password') return 'secret'
  if (choices !== undefined) return 'choice'
  if (type === 'integer' || type === 'number') return 'number'
  if (type === 'boolean') return 'yes-no'
  if (type === 'array') return 'lines'
  return maxLength > LONG && name !== 'email' ? 'long' : 'text'
}

function shortHint(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const plain = text.replaceAll('`', '').replace(/\.$/, '')
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

/** Browsers send line breaks as CR LF. */
const textIn = ({ kind }: InputField, text: string): string =>
  kind === 'secret' ? text : text.replaceAll('\r\n', '\n').trim()

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
