/**
 * How well a channel fits a search on the site (D-162). Programs that search with the API look for the beginning of a name
 * (`channel-search.ts`); people remember a part of it, or what the broadcast was about.
 */
import { type ChannelSearch, parseChannelSearch } from './channel-search.ts'

export interface SiteSearch {
  readonly names: ChannelSearch
  /** The query, normalized, as words. */
  readonly words: readonly string[]
}

/** Where the query was found: the lower comes first. */
export const FOUND_IN = {
  /** The login or the display name is the query. */
  name: 0,
  nameStart: 1,
  /** The start of a word in a name. */
  nameWord: 2,
  insideName: 3,
  /** All words of the query are in names, title and tags together, each at the start of a word. */
  words: 4,
  insideWords: 5,
} as const

/** Undefined: there is nothing to look for. */
export function parseSiteSearch(query: string): SiteSearch | undefined {
  const names = parseChannelSearch(query.trim())
  const [text = ''] = names?.spellings ?? []
  return names && { names, words: [...new Set(text.split(/\s+/))] }
}

/** Where a name has the query; undefined: nowhere. */
export function placeInName({ names }: SiteSearch, normalizedName: string): number | undefined {
  let best: number | undefined
  for (const spelling of names.spellings) {
    const at = normalizedName.indexOf(spelling)
    if (at < 0) continue
    const place = at > 0 ? placeBehindStart(normalizedName, spelling) : placeAtStart(normalizedName, spelling)
    if (best === undefined || place < best) best = place
  }
  return best
}

/** Where a channel has the query. All texts are normalized; `searched` has names, title and tags. */
export function placeInChannel(
  search: SiteSearch,
  { login, name, searched }: { readonly login: string; readonly name: string; readonly searched: string },
): number | undefined {
  const nowhere = Number.POSITIVE_INFINITY
  const inNames = Math.min(placeInName(search, login) ?? nowhere, placeInName(search, name) ?? nowhere)
  if (inNames < nowhere) return inNames
  if (!search.words.every(word => searched.includes(word))) return undefined
  return search.words.every(word => startsWord(searched, word)) ? FOUND_IN.words : FOUND_IN.insideWords
}

const placeAtStart = (name: string, spelling: string): number =>
  name.length === spelling.length ? FOUND_IN.name : FOUND_IN.nameStart

const placeBehindStart = (name: string, spelling: string): number =>
  startsWord(name, spelling) ? FOUND_IN.nameWord : FOUND_IN.insideName

/** Whether a word of the text begins with this. A word consists of letters, or of digits. */
function startsWord(text: string, beginning: string): boolean {
  for (let at = text.indexOf(beginning); at >= 0; at = text.indexOf(beginning, at + 1)) {
    const before = at === 0 ? 'other' : kindAt(text, at - 1)
    if (before === 'other' || before !== kindAt(text, at)) return true
  }
  return false
}

function kindAt(text: string, at: number): 'letter' | 'digit' | 'other' {
  const point = text.codePointAt(at) ?? 0
  if (point < 0x80) {
    if (point >= 0x30 && point <= 0x39) return 'digit'
    return point >= 0x61 && point <= 0x7a ? 'letter' : 'other'
  }
  const character = String.fromCodePoint(point)
  if (/\p{N}/u.test(character)) return 'digit'
  return /[\p{L}\p{M}]/u.test(character) ? 'letter' : 'other'
}
