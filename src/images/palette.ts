import { assertDefined } from '../kit/assert-defined.ts'
import type { Picture } from './picture.ts'

const PALETTE_SIZE = 256
const BACKGROUND = 0
/** More steps than this make no visible difference. */
const MAX_STEPS = 15

/** An entry of the palette: so many parts of one colour, the rest of the other. A colour alone is both. */
interface Blend {
  readonly under: number
  readonly over: number
  readonly share: number
}

/**
 * The colours of a picture, the background first, and steps between every two of them: with these, edges are smooth although
 * the format has a palette.
 */
export class Palette {
  readonly bytes: Uint8Array
  readonly #indexOf: ReadonlyMap<string, number>
  readonly #colours: number
  /** Steps between two colours, plus one. */
  readonly #parts: number
  readonly #blends: Blend[] = []
  /** The entry of a blend, by `#placeOf`. */
  readonly #entries: Uint8Array

  constructor({ background, shapes }: Picture) {
    const colours = [...new Set([background, ...shapes.map(shape => shape.fill)])]
    const count = colours.length
    const pairs = (count * (count - 1)) / 2
    this.#indexOf = new Map(colours.map((hex, index) => [hex, index]))
    this.#colours = count
    this.#parts = 1 + Math.min(MAX_STEPS, Math.floor((PALETTE_SIZE - count) / pairs))
    this.#entries = new Uint8Array(count * count * (this.#parts + 1))
    for (let colour = 0; colour < count; colour++) this.#add({ under: colour, over: colour, share: 0 })
    for (let under = 0; under < count; under++)
      for (let over = under + 1; over < count; over++) this.#addBetween(under, over)
    const channels = colours.map(parseChannels)
    this.bytes = Uint8Array.from(
      this.#blends.flatMap(({ under, over, share }) =>
        mixed(
          assertDefined(channels[under], 'a colour'),
          assertDefined(channels[over], 'a colour'),
          share / this.#parts,
        ),
      ),
    )
  }

  findIndex(hex: string): number {
    return assertDefined(this.#indexOf.get(hex), hex)
  }

  /** The entry for a pixel of this entry after a colour covered a share of it. */
  cover(entry: number, colour: number, share: number): number {
    const parts = Math.round(share * this.#parts)
    if (parts === 0) return entry
    const { under, over, share: before } = this.#blends[entry] as Blend
    // Parts of the same colour add up: shapes that touch leave no gap.
    if (colour === over) return this.#blendedEntry(under, over, Math.min(this.#parts, before + parts))
    if (colour === under) return this.#blendedEntry(under, over, Math.max(0, before - parts))
    return this.#blendedEntry(this.#kept(under, over, before, parts), colour, parts)
  }

  /**
   * A blend has two colours, so one of three has to leave: the smaller part. But if the new colour takes about as much as the
   * larger part, the two shapes touch, and what showed beside the first is covered now. In doubt the background leaves, or else
   * the colour that is used later: it is usually the one in front.
   */
  #kept(under: number, over: number, before: number, parts: number): number {
    const rest = this.#parts - before
    if (Math.abs(rest - before) <= 1) return under === BACKGROUND ? over : under
    const isTouching = Math.abs(Math.max(rest, before) - parts) <= 1
    return rest > before === isTouching ? over : under
  }

  #addBetween(under: number, over: number): void {
    for (let share = 0; share <= this.#parts; share++) {
      const entry = share === 0 ? under : share === this.#parts ? over : this.#add({ under, over, share })
      this.#entries[this.#blendedPlace(under, over, share)] = entry
      this.#entries[this.#blendedPlace(over, under, this.#parts - share)] = entry
    }
  }

  #add(blend: Blend): number {
    return this.#blends.push(blend) - 1
  }

  #blendedEntry(under: number, over: number, share: number): number {
    return under === over ? under : (this.#entries[this.#blendedPlace(under, over, share)] as number)
  }

  #blendedPlace(under: number, over: number, share: number): number {
    return (under * this.#colours + over) * (this.#parts + 1) + share
  }
}

function parseChannels(hex: string): number[] {
  return [1, 3, 5].map(start => Number.parseInt(hex.slice(start, start + 2), 16))
}

function mixed(under: readonly number[], over: readonly number[], share: number): number[] {
  return under.map((part, channel) =>
    Math.round(part + (assertDefined(over[channel], 'a channel') - part) * share),
  )
}
