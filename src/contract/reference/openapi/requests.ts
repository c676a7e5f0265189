import type { TObject, TSchema } from 'typebox'
import { type BodyForm, familyOf, hasBucket, type Operation } from '../../operation.ts'
import { type Input, listInputs } from '../inputs.ts'
import { linesContent } from './lines.ts'
import { textOfParameter } from './parameter-texts.ts'
import { type Json, referenceTo, type Schemas } from './schemas.ts'

const JSON_TYPE = 'application/json'
const FORM_TYPE = 'application/x-www-form-urlencoded'

/** Parameters that many operations share. */
export function parameterComponents(strict: boolean): Json {
  return {
    'Client-Id': {
      name: 'Client-Id',
      in: 'header',
      required: strict,
      description:
        'The client of the token. Optional, but required by Twitch and in strict mode. Must match the token if sent.',
      schema: { type: 'string' },
    },
  }
}

export function describeParameters(operation: Operation, schemas: Schemas): readonly Json[] {
  const inputs = listInputs(operation).filter(({ place }) => !place.endsWith('body'))
  return [
    ...(hasBucket(familyOf(operation)) ? [{ $ref: '#/components/parameters/Client-Id' }] : []),
    ...inputs.map(each => describeParameter(each, operation, schemas)),
  ]
}

function describeParameter(
  { name, place, required, description, schema }: Input,
  { example }: Operation,
  schemas: Schemas,
): Json {
  const { items, emptyIsValue } = schema as { items?: unknown; emptyIsValue?: boolean }
  const value = place === 'path' ? example.params?.[name] : example.query?.[name]
  return {
    name,
    in: place,
    required,
    description: description || textOfParameter(name),
    // An empty value counts as absent (D-11).
    ...(place === 'query' && !required && !emptyIsValue && { allowEmptyValue: true }),
    schema: schemas.use(withoutDescription(schema)),
    ...(items !== undefined && { style: 'form', explode: true }),
    ...(value !== undefined && { example: items !== undefined && !Array.isArray(value) ? [value] : value }),
  }
}

/** That of a parameter is beside its schema. */
function withoutDescription(schema: TSchema): TSchema {
  const {
    title,
    description: _,
    items,
    ...rest
  } = schema as {
    readonly title?: string
    readonly description?: string
    readonly items?: TSchema
  }
  if (title !== undefined) return schema
  return { ...rest, ...(items && { items: withoutDescription(items) }) } as TSchema
}

export function describeRequestBody(operation: Operation, schemas: Schemas): Json | undefined {
  const { body, bodyLines, bodyFrom, example } = operation
  if (bodyLines !== undefined)
    return { required: true, content: linesContent(bodyLines, example.body, schemas) }
  if (body === undefined) return undefined
  const schema =
    operation.forms === undefined ? schemas.use(body) : describeForms(operation.forms, body, schemas)
  const isAnywhere = bodyFrom === 'anywhere'
  const types = isAnywhere && familyOf(operation) === 'oauth' ? [FORM_TYPE, JSON_TYPE] : [JSON_TYPE]
  return {
    required: operation.forms !== undefined || (body.required ?? []).length > 0,
    content: Object.fromEntries(
      types.map(type => [type, { schema, ...(example.body !== undefined && { example: example.body }) }]),
    ),
    ...(isAnywhere && { 'x-strand-also-in': 'query' }),
  }
}

/** A body of one of several forms, which a field with a fixed value distinguishes. */
function describeForms(forms: Readonly<Record<string, BodyForm>>, body: TObject, schemas: Schemas): Json {
  const references = Object.entries(forms).map(([name, form]) =>
    schemas.name(name, describeForm(form, body, schemas)),
  )
  const [only] = references
  if (only !== undefined && references.length === 1) return only
  const [propertyName = ''] = Object.values(forms).flatMap(({ fixed }) => Object.keys(fixed ?? {}))
  const mapping = Object.entries(forms).map(([name, { fixed }]) => [fixed?.[propertyName], referenceTo(name)])
  return { oneOf: references, discriminator: { propertyName, mapping: Object.fromEntries(mapping) } }
}

function describeForm(
  { description, fixed = {}, required, optional }: BodyForm,
  { properties }: TObject,
  schemas: Schemas,
): Json {
  const fields = [...required, ...optional].map(name => [name, schemas.use(properties[name] ?? {})])
  return {
    type: 'object',
    description,
    required: [...Object.keys(fixed), ...required],
    properties: {
      ...Object.fromEntries(
        Object.entries(fixed).map(([name, value]) => [name, { type: 'string', const: value }]),
      ),
      ...Object.fromEntries(fields),
    },
  }
}
