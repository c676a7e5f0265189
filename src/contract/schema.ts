import type TypeBox from 'typebox'
import type { TNull, TObject, TOptional, TProperties, TSchema, TUnion } from 'typebox'

type Kind =
  | 'Array'
  | 'Boolean'
  | 'Enum'
  | 'Integer'
  | 'Literal'
  | 'Null'
  | 'Number'
  | 'Object'
  | 'Optional'
  | 'Record'
  | 'String'
  | 'Union'
  | 'Unknown'

type Schema = Readonly<Record<string, unknown>>

const optionalSchemas = new WeakSet<Schema>()

const builders = {
  Array: (items: Schema, options?: Schema) => ({ type: 'array', items, ...options }),
  Boolean: (options?: Schema) => ({ type: 'boolean', ...options }),
  Enum: (values: readonly string[], options?: Schema) => ({ enum: values, ...options }),
  Integer: (options?: Schema) => ({ type: 'integer', ...options }),
  Literal: (value: string, options?: Schema) => ({ type: 'string', const: value, ...options }),
  Null: (options?: Schema) => ({ type: 'null', ...options }),
  Number: (options?: Schema) => ({ type: 'number', ...options }),
  Object: (properties: Readonly<Record<string, Schema>>, options?: Schema) => {
    const required = Object.keys(properties).filter(name => !optionalSchemas.has(properties[name] ?? {}))
    return { type: 'object', ...(required.length > 0 && { required }), properties, ...options }
  },
  Optional: (schema: Schema) => {
    const copy = { ...schema }
    optionalSchemas.add(copy)
    return copy
  },
  Record: (_names: Schema, values: Schema, options?: Schema) => ({
    type: 'object',
    patternProperties: { '^.*$': values },
    ...options,
  }),
  String: (options?: Schema) => ({ type: 'string', ...options }),
  Union: (variants: readonly Schema[], options?: Schema) => ({ anyOf: variants, ...options }),
  Unknown: (options?: Schema) => ({ ...options }),
}

/**
 * TypeBox's builders for declarations, with TypeBox's types. They make plain JSON Schema without loading any of TypeBox's
 * 500 files, which added a quarter of a second to every start.
 */
export const Type = builders as unknown as Pick<typeof TypeBox, Kind>

/** These fields, none of them required. */
export function optional<Fields extends TProperties>(
  fields: Fields,
): { [Name in keyof Fields]: TOptional<Fields[Name]> } {
  const each = Object.entries(fields).map(([name, schema]) => [name, Type.Optional(schema)])
  return Object.fromEntries(each)
}

/** A value of this form, or null. */
export function orNull<S extends TSchema>(schema: S, description?: string): TUnion<[S, TNull]> {
  return Type.Union([schema, Type.Null()], description === undefined ? {} : { description })
}

/** An object that the OpenAPI document describes under this name, once. */
export function resource<Fields extends TProperties>(
  title: string,
  description: string,
  fields: Fields,
): TObject<Fields> {
  return Type.Object(fields, { title, description })
}

/** What forms, command lines and the reference read of a schema. */
export interface JsonSchema {
  readonly type?: string
  readonly enum?: readonly string[]
  readonly const?: string
  readonly anyOf?: readonly JsonSchema[]
  readonly items?: JsonSchema
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  readonly description?: string
  readonly hint?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly minItems?: number
  readonly maxItems?: number
}
