/**
 * The schemas of the contract as the document has them. The contract annotates a schema for parser, messages and forms;
 * here an annotation becomes the keyword of JSON Schema 2020-12 that means the same, a documented extension, or nothing.
 * What the parser accepts beyond the declared type is part of the type here: a request that is accepted is valid.
 */
import type { TSchema } from 'typebox'
import { GivenTime, UUID_PATTERN } from '../../resources/id.ts'

export type Json = Readonly<Record<string, unknown>>

/** A schema of the contract: JSON Schema, and annotations. */
interface Declared {
  readonly [keyword: string]: unknown
  readonly title?: string
  readonly description?: string
  readonly type?: string
  readonly enum?: readonly string[]
  readonly pattern?: string
  readonly maximum?: number
  readonly items?: Declared
  readonly anyOf?: readonly Declared[]
  readonly properties?: Readonly<Record<string, Declared>>
  readonly patternProperties?: Readonly<Record<string, Declared>>
  readonly additionalProperties?: boolean
}

const ANY_NAME = '^.*$'
const IN_COMPONENTS = '#/components/schemas/'
const MAX_INT32 = 2 ** 31 - 1

/** Formats that a pattern implies. The parser checks the pattern, which has a message. */
const FORMATS: Readonly<Record<string, string>> = {
  [UUID_PATTERN]: 'uuid',
  [String((GivenTime as unknown as Declared).pattern)]: 'date-time',
}

/** Collects the schemas of a document. Each that has a title is described once, and referred to. */
export class Schemas {
  readonly #named = new Map<string, Json>()
  readonly #place: string

  /** `place`: where the document has those with a name. */
  constructor(place = IN_COMPONENTS) {
    this.#place = place
  }

  /** A schema that is used in the document. */
  use(schema: TSchema): Json {
    return this.#use(schema as unknown as Declared)
  }

  /** Adds a schema under a name, and refers to it. */
  name(name: string, schema: Json): Json {
    const known = this.#named.get(name)
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(schema))
      throw new Error(`two schemas are called ${name}`)
    this.#named.set(name, schema)
    return { $ref: this.#place + name }
  }

  /** All that have a name, in the order of the names. */
  get named(): Json {
    return inOrder(this.#named)
  }

  #use(schema: Declared): Json {
    const { title, ...rest } = schema
    return title === undefined ? this.#translate(rest) : this.name(title, this.#translate(rest))
  }

  #translate(schema: Declared): Json {
    const { items, anyOf, properties, patternProperties, ...rest } = plain(schema)
    const { [ANY_NAME]: values } = patternProperties ?? {}
    return {
      ...rest,
      ...(items && { items: this.#use(items) }),
      ...(properties && {
        properties: Object.fromEntries(
          Object.entries(properties).map(([name, each]) => [name, this.#use(each)]),
        ),
      }),
      ...(values && { additionalProperties: this.#use(values) }),
      ...(anyOf && this.#union(anyOf)),
    }
  }

  #union(variants: readonly Declared[]): Json {
    const [first, second, ...more] = variants
    if (first?.type !== undefined && second?.type === 'null' && more.length === 0 && isScalar(first)) {
      const { type, ...rest } = this.#use(first)
      return { type: [type, 'null'], ...rest }
    }
    return { anyOf: variants.map(each => this.#use(each)), ...discriminator(variants) }
  }
}

/** By name, so that a document changes only where the contract does. */
export function inOrder(entries: ReadonlyMap<string, Json>): Json {
  return Object.fromEntries([...entries].sort(([a], [b]) => (a < b ? -1 : 1)))
}

export function referenceTo(name: string): string {
  return IN_COMPONENTS + name
}

/** A schema without annotations, apart from those of the schemas inside it. */
function plain({
  hint,
  secret,
  refersTo,
  nullIsAbsent,
  numberIsText,
  digitsAreInteger,
  // Of the forms of values in messages, stores and query strings.
  size: _size,
  kept: _kept,
  emptyIsValue: _emptyIsValue,
  ...schema
}: Declared): Declared {
  const { type = schema.enum && 'string', description, pattern, ...rest } = schema
  const types = [
    type,
    numberIsText && 'integer',
    digitsAreInteger && 'string',
    nullIsAbsent && 'null',
  ].filter(Boolean)
  const format = chooseFormat(schema)
  const text = [description, hint && sentence(String(hint))].filter(Boolean).join(' ')
  return {
    ...(text !== '' && { description: text }),
    ...(types.length > 0 && { type: (types.length === 1 ? type : types) as string }),
    ...(format && { format }),
    ...(pattern !== undefined && { pattern }),
    ...(digitsAreInteger ? { pattern: '^[0-9]{1,9}$' } : {}),
    ...rest,
    ...(secret ? { writeOnly: true } : {}),
    ...(refersTo ? { 'x-strand-refers-to': refersTo } : {}),
  }
}

function chooseFormat({ type, pattern, maximum = Number.POSITIVE_INFINITY }: Declared): string | undefined {
  if (type === 'integer') return maximum <= MAX_INT32 ? 'int32' : 'int64'
  return FORMATS[pattern ?? '']
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
}

function isScalar({ title, enum: values, const: value }: Declared): boolean {
  return title === undefined && values === undefined && value === undefined
}

/** Of variants that have a name: the field whose value is different in each. */
function discriminator(variants: readonly Declared[]): Json {
  const [first] = variants
  const findConstant = ({ properties }: Declared, field: string) =>
    properties?.[field]?.const as string | undefined
  const propertyName = Object.keys(first?.properties ?? {}).find(field =>
    variants.every(each => each.title !== undefined && findConstant(each, field) !== undefined),
  )
  if (propertyName === undefined) return {}
  const mapping = variants.map(each => [findConstant(each, propertyName), referenceTo(each.title ?? '')])
  return { discriminator: { propertyName, mapping: Object.fromEntries(mapping) } }
}
