import type { TSchema } from 'typebox'
import { type Operation, queryParameters } from '../operation.ts'

/** A parameter or a field of the body. The description of a list is that of its items. */
export interface Input {
  readonly name: string
  readonly place: 'path' | 'query' | 'header' | 'body' | 'query or body'
  readonly schema: TSchema
  readonly description: string
  readonly required: boolean
}

interface Declared {
  readonly properties: Readonly<Record<string, TSchema>>
  readonly required?: readonly string[]
}

const IDEMPOTENCY_KEY: Input = {
  name: 'Idempotency-Key',
  place: 'header',
  schema: { type: 'string', pattern: '^[!-~]{1,255}$', hint: 'string, 1 to 255 visible ASCII characters' },
  description: '',
  required: false,
}

/** Everything that a request of the operation may carry, in the order of the reference. */
export function listInputs(operation: Operation): Input[] {
  const { params, body, bodyFrom, idempotent } = operation
  return [
    ...inputsIn('path', params && { ...params, required: Object.keys(params.properties) }),
    ...inputsIn('query', queryParameters(operation)),
    ...inputsIn(bodyFrom === 'anywhere' ? 'query or body' : 'body', body),
    ...(idempotent ? [IDEMPOTENCY_KEY] : []),
  ]
}

function inputsIn(place: Input['place'], { properties, required }: Declared = { properties: {} }): Input[] {
  return Object.entries(properties).map(([name, schema]) => {
    const { description, items } = schema as { description?: string; items?: { description?: string } }
    return {
      name,
      place,
      schema,
      description: description ?? items?.description ?? '',
      required: required?.includes(name) ?? false,
    }
  })
}
