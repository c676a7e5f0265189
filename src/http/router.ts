import { assertDefined } from '../kit/assert-defined.ts'

/** A matching route, with the raw values of its placeholders. */
export interface Match<Target> {
  readonly target: Target
  readonly params: Readonly<Record<string, string>>
}

const NO_PARAMS: Readonly<Record<string, string>> = {}

/** Maps method and path to a target. Fixed paths are looked up; paths with `{placeholders}` are compared by segment. */
export class Router<Target> {
  readonly #fixed = new Map<string, Map<string, Match<Target>>>()
  readonly #withPlaceholders: { method: string; segments: readonly string[]; target: Target }[] = []

  add(method: string, path: string, target: Target): void {
    if (path.includes('{')) this.#withPlaceholders.push({ method, segments: path.split('/'), target })
    else this.#fixedRoutes(method).set(path, { target, params: NO_PARAMS })
  }

  find(method: string, path: string): Match<Target> | undefined {
    const fixed = this.#fixed.get(method)?.get(path)
    if (fixed !== undefined) return fixed
    const segments = path.split('/')
    for (const route of this.#withPlaceholders) {
      if (route.method !== method) continue
      const params = fill(route.segments, segments)
      if (params !== undefined) return { target: route.target, params }
    }
    return undefined
  }

  #fixedRoutes(method: string): Map<string, Match<Target>> {
    const known = this.#fixed.get(method)
    if (known !== undefined) return known
    const created = new Map<string, Match<Target>>()
    this.#fixed.set(method, created)
    return created
  }
}

function fill(pattern: readonly string[], segments: readonly string[]): Record<string, string> | undefined {
  if (pattern.length !== segments.length) return undefined
  const params: Record<string, string> = {}
  for (const [index, segment] of segments.entries()) {
    const expected = assertDefined(pattern[index], 'a segment of a path')
    if (expected.startsWith('{')) {
      if (segment === '') return undefined
      params[expected.slice(1, -1)] = segment
    } else if (expected !== segment) return undefined
  }
  return params
}
