import type { Call } from './call.ts'
import { InvalidInput } from './invalid-input.ts'

export type Input = Readonly<Record<string, unknown>>

/** A request without its credentials. */
export interface PackedRequest {
  /** Path and query string. */
  readonly path: string
  /** JSON, where the operation takes a body. */
  readonly body: string | undefined
}

/** Puts each input where the declaration sends it. An undeclared name throws. */
export function packInput(call: Call, input: Input): PackedRequest {
  const query = new URLSearchParams()
  const body: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(input)) {
    if (value === undefined) continue
    if (call.body?.includes(name)) body[name] = value
    else if (call.query.includes(name)) for (const each of [value].flat()) query.append(name, String(each))
    else if (!call.params.includes(name)) throw new InvalidInput(name, `${call.id} takes no "${name}"`)
  }
  const search = query.size > 0 ? `?${query}` : ''
  return {
    path: fillPath(call, input) + search,
    body: call.body === undefined ? undefined : JSON.stringify(body),
  }
}

function fillPath(call: Call, input: Input): string {
  return call.path.replace(/\{([^}]+)\}/g, (_, name: string) => {
    const value = String(input[name] ?? '')
    // Dot segments would be resolved on the way and reach another operation.
    if (/^\.{0,2}$/.test(value)) throw new InvalidInput(name, `${call.id} needs "${name}", not "${value}"`)
    return encodeURIComponent(value)
  })
}
