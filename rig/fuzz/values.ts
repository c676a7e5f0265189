/** Generates values for a schema: valid, at its boundaries, or hostile. */
import fc from 'fast-check'
import type { SeededRandom } from '../../src/kit/random.ts'
import type { Schema, SchemaType } from './document.ts'

const MAX_ITEMS = 4
const SAMPLES = 100

/** An existing value of the world for a field, if one is known. */
export type Suggest = (field: string, schema: Schema) => string | undefined

/** Strings that break programs which trust their input. */
const HOSTILE_TEXTS = [
  '',
  ' ',
  '\0',
  'a\0b',
  '\ud800',
  'x\udc00',
  '\u202e\ufeff\u200b',
  "' or 1=1 --",
  '"; drop table users; --',
  '%00',
  '%s%n',
  '../../etc/passwd',
  '{{7*7}}',
  '<script>alert(1)</script>',
  '__proto__',
  'constructor',
  'null',
  'undefined',
  'NaN',
  '-1',
  '0',
  '00',
  '1e3',
  '0x10',
  '٣',
  '9223372036854775808',
  '99999999999999999999999999',
  '2026-02-30T00:00:00Z',
  '0000-01-01T00:00:00Z',
  '9999-12-31T23:59:59.999999999Z',
  '😀'.repeat(141),
  'x'.repeat(1000),
  'x'.repeat(9000),
  '\r\nX-Injected: 1',
]

const HOSTILE_NUMBERS = [-1, -0, 0, 0.5, 1e21, 2 ** 31, 2 ** 53, -(2 ** 63), Number.MAX_VALUE]

export class ValueMaker {
  readonly #random: SeededRandom
  readonly #suggest: Suggest
  /** Probability that a value is mutated. */
  readonly #mutationRate: number
  /** Optional fields that are usually included. */
  readonly #usual: ReadonlySet<string>

  constructor(
    random: SeededRandom,
    suggest: Suggest,
    options: { mutationRate: number; usual: ReadonlySet<string> },
  ) {
    this.#random = random
    this.#suggest = suggest
    this.#mutationRate = options.mutationRate
    this.#usual = options.usual
  }

  /** Draws whether to mutate. */
  mutates(share = 1): boolean {
    return this.#random.next() < this.#mutationRate * share
  }

  make(field: string, schema: Schema): unknown {
    if (this.mutates()) return this.#random.next() < 0.5 ? this.#boundary(schema) : this.#hostile()
    const variants = schema.anyOf ?? schema.oneOf
    if (variants !== undefined) return this.make(field, this.#random.pick(variants))
    if (schema.const !== undefined) return schema.const
    if (schema.enum !== undefined) return this.#random.pick(schema.enum)
    switch (this.#typeOf(schema)) {
      case 'string':
        return this.#suggest(field, schema) ?? this.#text(schema)
      case 'integer':
      case 'number':
        return this.#number(schema)
      case 'boolean':
        return this.#random.next() < 0.5
      case 'array':
        return this.#array(field, schema)
      case 'object':
        return this.#object(field, schema)
      default:
        return this.#suggest(field, schema) ?? null
    }
  }

  /** Mostly the first, which is the declared one; the others are accepted too. */
  #typeOf({ type }: Schema): SchemaType | undefined {
    const [first, ...others] = [type ?? []].flat()
    return others.length === 0 || this.#random.next() < 0.8 ? first : this.#random.pick(others)
  }

  hostileText(): string {
    return this.#random.pick(HOSTILE_TEXTS)
  }

  #hostile(): unknown {
    const kind = this.#random.between(0, 9)
    if (kind < 6) return this.hostileText()
    if (kind === 6) return this.#random.pick(HOSTILE_NUMBERS)
    return this.#random.pick([null, true, [], {}, [[]], [null], { __proto__: null, a: 1 }, nested(200)])
  }

  #boundary(schema: Schema): unknown {
    const side = this.#random.between(-1, 1)
    switch (this.#typeOf(schema)) {
      case 'string': {
        const edge = this.#random.pick([schema.minLength ?? 0, schema.maxLength ?? 100])
        return this.#random.pick(['x', 'é', '😀', '1', 'a']).repeat(Math.max(0, edge + side))
      }
      case 'integer':
      case 'number':
        return this.#random.pick([schema.minimum ?? 0, schema.maximum ?? 1000]) + side
      case 'array': {
        const edge = this.#random.pick([schema.minItems ?? 0, Math.min(schema.maxItems ?? 100, 200)])
        const item = schema.items ?? {}
        return Array.from({ length: Math.max(0, edge + side) }, () => this.make('', item))
      }
      default:
        return this.#random.pick([...(schema.enum ?? []).map(each => each.toLowerCase()), null, ''])
    }
  }

  #text(schema: Schema): string {
    if (schema.pattern !== undefined) return this.#random.pick(samplesOf(schema.pattern))
    const least = schema.minLength ?? 0
    const length = this.#random.between(least, Math.min(schema.maxLength ?? 30, least + 30))
    return Array.from({ length }, () => this.#random.pick([...'abcdefghij_ é😀'])).join('')
  }

  #number({ minimum = 0, maximum = 1000 }: Schema): number {
    return this.#random.next() < 0.5
      ? this.#random.between(minimum, Math.min(maximum, minimum + 20))
      : this.#random.between(minimum, maximum)
  }

  #array(field: string, { items = {}, minItems = 0, maxItems = MAX_ITEMS }: Schema): unknown[] {
    const length = this.#random.between(minItems, Math.max(minItems, Math.min(maxItems, MAX_ITEMS)))
    return Array.from({ length }, () => this.make(field, items))
  }

  /** How often an optional field is included. Hashing a password takes the server a tenth of a second. */
  #shareOf(name: string): number {
    if (name === 'password') return 0.05
    return this.#usual.has(name) ? 0.95 : 0.3
  }

  #object(field: string, schema: Schema): Record<string, unknown> {
    const made: [string, unknown][] = []
    const type = schema.properties?.type?.const
    for (const [name, property] of Object.entries(schema.properties ?? {})) {
      const isWanted = schema.required?.includes(name)
        ? !this.mutates(0.2)
        : this.#random.next() < this.#shareOf(name)
      // In an import line, the type determines the kind of id.
      const meaning = name === 'id' && type !== undefined ? `${type}_id` : name
      if (isWanted) made.push([name, this.make(meaning, property)])
    }
    if (schema.additionalProperties !== undefined) {
      const values = schema.additionalProperties
      const count = this.#random.between(0, MAX_ITEMS)
      for (let number = 0; number < count; number++) {
        const name = this.#suggest(field, {}) ?? this.hostileText()
        made.push([name, this.make(name, values)])
      }
    }
    if (this.mutates(0.3)) made.push([this.#random.pick(['__proto__', 'constructor', 'extra']), { x: 1 }])
    return Object.fromEntries(made)
  }
}

function nested(depth: number): unknown {
  let value: unknown = 1
  for (let level = 0; level < depth; level++) value = [value]
  return value
}

/** The generator does not support negative lookahead, so samples are filtered instead. */
const LOOKAHEAD = /\(\?!(?:[^()]|\([^()]*\))*\)/g

const samples = new Map<string, readonly string[]>()

/** Strings that match a pattern; the same in every run. */
function samplesOf(pattern: string): readonly string[] {
  const known = samples.get(pattern)
  if (known !== undefined) return known
  const whole = new RegExp(pattern, 'u')
  const drawn = fc
    .sample(fc.stringMatching(new RegExp(pattern.replace(LOOKAHEAD, ''))), { numRuns: SAMPLES, seed: 1 })
    .filter(text => whole.test(text))
  samples.set(pattern, drawn)
  return drawn
}
