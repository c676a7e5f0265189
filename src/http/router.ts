import { must } from '../kit/must.ts'

/** A route that was found, with what stands in place of its placeholders, as it was sent. */
export interface Match<Target> {
  readonly target: Target
  readonly params: Readonly<Record<string, string>>
}

const NO_PARAMS: Readonly<Record<string, string>> = {}

/** Method and path to target. Fixed paths are looked up; those with `{placeholders}` are compared piece by piece. */
export class Router<Target> {
  readonly #fixed = new Map<string, Map<string, Match<Target>>>()
  readonly #open: { method: string; pieces: readonly string[]; target: Target }[] = []

  add(method: string, path: string, target: Target): void {
    if (path.includes('{')) this.#open.push({ method, pieces: path.split('/'), target })
    else this.#fixedOf(method).set(path, { target, params: NO_PARAMS })
  }

  find(method: string, path: string): Match<Target> | undefined {
    const fixed = this.#fixed.get(method)?.get(path)
    if (fixed !== undefined) return fixed
    const pieces = path.split('/')
    for (const route of this.#open) {
      if (route.method !== method) continue
      const params = fill(route.pieces, pieces)
      if (params !== undefined) return { target: route.target, params }
    }
    return undefined
  }

  #fixedOf(method: string): Map<string, Match<Target>> {
    const known = this.#fixed.get(method)
    if (known !== undefined) return known
    const fresh = new Map<string, Match<Target>>()
    this.#fixed.set(method, fresh)
    return fresh
  }
}

function fill(pattern: readonly string[], pieces: readonly string[]): Record<string, string> | undefined {
  if (pattern.length !== pieces.length) return undefined
  const params: Record<string, string> = {}
  for (const [index, piece] of pieces.entries()) {
    const expected = must(pattern[index], 'a piece of a path')
    if (expected.startsWith('{')) {
      if (piece === '') return undefined
      params[expected.slice(1, -1)] = piece
    } else if (expected !== piece) return undefined
  }
  return params
}
