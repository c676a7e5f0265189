import { type Operation, queryParametersOf } from '../contract/operation.ts'

export type Input = Readonly<Record<string, unknown>>

/** A call as it travels, but for who sends it. */
export interface PackedRequest {
  /** Path and query string. */
  readonly path: string
  /** JSON, where the operation takes a body. */
  readonly body: string | undefined
}

/** Puts each field of the input where the declaration says that it travels. A name that it does not know is a mistake. */
export function packInput(operation: Operation, input: Input): PackedRequest {
  const places = placesOf(operation)
  const query = new URLSearchParams()
  const body: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(input)) {
    if (value === undefined) continue
    const place = places.get(name)
    if (place === undefined) throw new TypeError(`${operation.id} takes no "${name}"`)
    if (place === 'body') body[name] = value
    if (place === 'query') for (const each of [value].flat()) query.append(name, String(each))
  }
  const search = query.size > 0 ? `?${query}` : ''
  return {
    path: fillPath(operation, input) + search,
    body: operation.body === undefined ? undefined : JSON.stringify(body),
  }
}

type Place = 'path' | 'query' | 'body'

function placesOf(operation: Operation): Map<string, Place> {
  const places = new Map<string, Place>()
  const note = (fields: object | undefined, place: Place) => {
    for (const name of Object.keys(fields ?? {})) places.set(name, place)
  }
  note(operation.params?.properties, 'path')
  note(queryParametersOf(operation).properties, 'query')
  note(operation.body?.properties, 'body')
  return places
}

function fillPath(operation: Operation, input: Input): string {
  return operation.path.replace(/\{([^}]+)\}/g, (_, name: string) => {
    const value = String(input[name] ?? '')
    // Dots would be resolved on the way and lead to another operation.
    if (/^\.{0,2}$/.test(value)) throw new TypeError(`${operation.id} needs "${name}", not "${value}"`)
    return encodeURIComponent(value)
  })
}
