import type { JsonSchema } from '../src/contract/schema.ts'
import { nameOf } from './named-schemas.ts'

/** JSON Schema as the contract uses it. */
export interface Schema extends JsonSchema {
  readonly const?: string
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly patternProperties?: Readonly<Record<string, Schema>>
  readonly minItems?: number
  readonly maxItems?: number
  /** Never given. */
  readonly not?: object
}

/** Inputs accept read-only arrays and undefined; answers are what the server sends. */
export type Direction = 'input' | 'answer'

/** Fields that take the name of an operation, by the type that has them. */
const OPERATION_NAMES = new Set(['PlanFaultInput.operation', 'Scenario.faults.operation'])

/** Renders schemas as TypeScript, and notes the resources among them, which become types with names. */
export class SchemaTypes {
  readonly #named = new Map<string, string>()

  /** The declarations of the resources that were rendered so far. */
  named(): string[] {
    return [...this.#named].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, text]) => text)
  }

  interfaceOf(name: string, about: string | undefined, schema: Schema, direction: Direction): string {
    const properties = this.propertiesOf(schema, direction, 1, name)
    return `${doc(about)}export interface ${name} {\n${properties}${properties && '\n'}}`
  }

  /** The properties of an object, one per line, with their descriptions. */
  propertiesOf(schema: Schema, direction: Direction, depth: number, path: string): string {
    const { properties = {}, required = [] } = schema
    return Object.entries(properties)
      .map(([name, each]) => {
        const isRequired = required.includes(name)
        const type = this.typeOf(each, direction, depth, `${path}.${name}`)
        const mayBeUndefined = direction === 'input' && !isRequired && type !== 'undefined'
        const field = `${keyOf(name)}${isRequired ? '' : '?'}: ${type}${mayBeUndefined ? ' | undefined' : ''}`
        return `${doc(describe(each), depth)}${indent(depth)}${field}`
      })
      .join('\n')
  }

  typeOf(schema: Schema, direction: Direction, depth = 0, path = ''): string {
    // Inputs accept more than the resource of the same shape.
    const name = direction === 'answer' || schema.enum !== undefined ? nameOf(schema) : undefined
    return name === undefined ? this.#inline(schema, direction, depth, path) : this.#reference(name, schema)
  }

  #inline(schema: Schema, direction: Direction, depth: number, path: string): string {
    const inner = (each: Schema) => this.typeOf(each, direction, depth, path)
    if (OPERATION_NAMES.has(path) && schema.type === 'string') return 'OperationName'
    if (schema.not !== undefined) return 'undefined'
    if (schema.const !== undefined) return `'${schema.const}'`
    if (schema.enum !== undefined) return schema.enum.map(value => `'${value}'`).join(' | ')
    if (schema.anyOf !== undefined) return [...new Set(schema.anyOf.map(inner))].join(' | ')
    if (schema.items !== undefined) return arrayOf(inner(schema.items), direction)
    if (schema.properties !== undefined)
      return `{\n${this.propertiesOf(schema, direction, depth + 1, path)}\n${indent(depth)}}`
    const [values] = Object.values(schema.patternProperties ?? {})
    if (values !== undefined)
      return `{ ${direction === 'input' ? 'readonly ' : ''}[name: string]: ${inner(values)} }`
    return schema.type === 'integer' ? 'number' : (schema.type ?? 'unknown')
  }

  #reference(name: string, schema: Schema): string {
    const declared =
      schema.properties === undefined
        ? `${doc(schema.description)}export type ${name} = ${this.#inline(schema, 'answer', 0, name)}`
        : this.interfaceOf(name, schema.description, schema, 'answer')
    const known = this.#named.get(name)
    if (known !== undefined && withoutComments(known) !== withoutComments(declared))
      throw new Error(`two resources are called ${name}`)
    this.#named.set(name, known ?? declared)
    return name
  }
}

function withoutComments(text: string): string {
  return text.replaceAll(/\/\*\*.*?\*\/\s*/gs, '')
}

function keyOf(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : `'${name}'`
}

function arrayOf(item: string, direction: Direction): string {
  const isUnion = item.includes('|') && !item.startsWith('{')
  return `${direction === 'input' ? 'readonly ' : ''}${isUnion ? `(${item})` : item}[]`
}

/** The description, with the bounds. */
function describe(schema: Schema): string | undefined {
  const { description, minimum, maximum, minItems, maxItems, maxLength } = schema
  const bounds =
    range(minimum, maximum, '') ??
    range(minItems, maxItems, ' entries') ??
    range(undefined, maxLength, ' characters')
  return [description, bounds].filter(text => text !== undefined).join(' ') || undefined
}

function range(least: number | undefined, most: number | undefined, unit: string): string | undefined {
  if (most === undefined) return undefined
  return least === undefined ? `At most ${most}${unit}.` : `${least} to ${most}${unit}.`
}

/** A documentation comment, or nothing. */
export function doc(text: string | undefined, depth = 0): string {
  if (text === undefined) return ''
  const lines = text.replaceAll('*/', '*\\/').split('\n')
  if (lines.length === 1) return `${indent(depth)}/** ${lines[0]} */\n`
  const inner = lines.map(line => `${indent(depth)} * ${line}`.trimEnd())
  return `${indent(depth)}/**\n${inner.join('\n')}\n${indent(depth)} */\n`
}

function indent(depth: number): string {
  return '  '.repeat(depth)
}
