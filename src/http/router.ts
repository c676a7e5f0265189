import { decode } from './parse.ts'

/** A route that was found, with the values of its placeholders. */
export interface Match<Target> {
  readonly target: Target
  readonly params: Readonly<Record<string, string>>
}

const NO_PARAMS: Readonly<Record<string, string>> = {}

/** Method and path to target. Fixed paths are one look-up; those with `{placeholders}` are compared piece by piece. */
export class Router<Target> {
  readonly #fixed = new Map<string, Match<Target>>()
  readonly #open: { method: string; pieces: readonly string[]; target: Target }[] = []

  add(method: string, path: string, target: Target): void {
    if (path.includes('{')) this.#open.push({ method, pieces: path.split('/'), target })
    else this.#fixed.set(`${method} ${path}`, { target, params: NO_PARAMS })
  }

  find(method: string, path: string): Match<Target> | undefined {
    const fixed = this.#fixed.get(`${method} ${path}`)
    if (fixed !== undefined) return fixed
    const pieces = path.split('/')
    for (const route of this.#open) {
      if (route.method !== method) continue
      const params = fill(route.pieces, pieces)
      if (params !== undefined) return { target: route.target, params }
    }
    return undefined
  }
}

function fill(pattern: readonly string[], pieces: readonly string[]): Record<string, string> | undefined {
  if (pattern.length !== pieces.length) return undefined
  const params: Record<string, string> = {}
  for (const [index, piece] of pieces.entries()) {
    const expected = pattern[index] ?? ''
    if (expected.startsWith('{')) {
      if (piece === '') return undefined
      params[expected.slice(1, -1)] = decode(piece.replaceAll('+', '%2B'))
    } else if (expected !== piece) return undefined
  }
  return params
}
