import type { Key } from '../../contract/page.ts'
import { compareCodePoints } from '../../kit/text.ts'
import { normalizeName } from './normalize-name.ts'

/** What a search for games looks for, normalized. */
export interface GameSearch {
  readonly text: string
  readonly words: readonly string[]
}

/** How well a name fits a search: the lower comes first (D-76). */
export const FIT = { exact: 0, prefix: 1, words: 2 } as const

/** Undefined: there is nothing to look for. */
export function parseGameSearch(query: string): GameSearch | undefined {
  const text = normalizeName(query).trim()
  return text === '' ? undefined : { text, words: [...new Set(text.split(/\s+/))] }
}

/** Every word must occur in the name. Undefined: it does not fit. */
export function rateFit({ text, words }: GameSearch, normalizedName: string): number | undefined {
  if (normalizedName === text) return FIT.exact
  if (normalizedName.startsWith(text)) return FIT.prefix
  return words.every(word => normalizedName.includes(word)) ? FIT.words : undefined
}

/** Orders games by fit, name and id. */
export function compareFound([fit = 0, name = '', digits = 0, id = '']: Key, other: Key): number {
  const [otherFit = 0, otherName = '', otherDigits = 0, otherId = ''] = other
  return (
    Number(fit) - Number(otherFit) ||
    compareCodePoints(String(name), String(otherName)) ||
    Number(digits) - Number(otherDigits) ||
    compareCodePoints(String(id), String(otherId))
  )
}
