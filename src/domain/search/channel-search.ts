import type { Key } from '../../contract/page.ts'
import { normalizeName } from './normalize-name.ts'

/** What a search for channels looks for (D-86). */
export interface ChannelSearch {
  /** The query, normalized, with its spaces as they are, as `_` and as nothing. */
  readonly spellings: readonly string[]
  /** A name that begins with one of the spellings begins with exactly one of these. */
  readonly prefixes: readonly string[]
}

/** Undefined: there is nothing to look for. */
export function parseChannelSearch(query: string): ChannelSearch | undefined {
  const text = normalizeName(query)
  if (text.trim() === '') return undefined
  const spellings = [...new Set([text, text.replaceAll(' ', '_'), text.replaceAll(' ', '')])]
  const isCovered = (one: string) => spellings.some(other => other !== one && one.startsWith(other))
  return { spellings, prefixes: spellings.filter(one => !isCovered(one)) }
}

export function fits({ prefixes }: ChannelSearch, normalizedName: string): boolean {
  return prefixes.some(prefix => normalizedName.startsWith(prefix))
}

/** Whether a normalized name differs from the login by more than spaces; the spellings of a query find the others by login. */
export function isOtherName(login: string, normalizedName: string): boolean {
  return normalizedName.replaceAll(' ', '_') !== login && normalizedName.replaceAll(' ', '') !== login
}

/** Whether a login is the query itself: such channels come first, then all others by login (D-87). */
export function isExact({ spellings }: ChannelSearch, login: string): boolean {
  return spellings.includes(login)
}

/** The sort key of a found channel. */
export function foundKey(search: ChannelSearch, login: string): Key {
  return [isExact(search, login) ? 0 : 1, login]
}

const SURROGATES = { before: 0xd7ff, after: 0xe000 }
const LAST_CODE_POINT = 0x10ffff

/**
 * The first text, by code point, after all texts with this prefix. Undefined: there is none, because the prefix consists of
 * the last code point.
 */
export function endOfPrefix(prefix: string): string | undefined {
  const points = [...prefix]
  for (let last = points.pop(); last !== undefined; last = points.pop()) {
    const point = last.codePointAt(0) ?? LAST_CODE_POINT
    if (point === LAST_CODE_POINT) continue
    const next = point === SURROGATES.before ? SURROGATES.after : point + 1
    return points.join('') + String.fromCodePoint(next)
  }
  return undefined
}
