import { lazy } from '../../kit/lazy.ts'

const names = lazy(() => new Intl.DisplayNames('en', { type: 'language', fallback: 'code' }))

/** The English name of a language; what is no code stays as it is. */
export function languageName(code: string): string {
  return /^[a-z]{2,3}$/.test(code) ? (names().of(code) ?? code) : code
}

/** The languages of ISO 639-1 that people broadcast in most. */
const LANGUAGES =
  `ar bg ca cs da de el en es et fa fi fr he hi hr hu id it ja ko lt lv ms nl no pl pt ro ru sk sl sr sv th tl
  tr uk ur vi zh`.split(/\s+/)

/** The languages to choose from, by their English names, with the current one, whatever it is. */
export function languagesWith(current: string) {
  const codes = [...new Set([...LANGUAGES, current])].filter(code => code !== 'other' && code !== '')
  const named = codes.map(id => ({ id, name: languageName(id) }))
  named.sort((a, b) => (a.name < b.name ? -1 : 1))
  return [...named, { id: 'other', name: 'Other' }]
}
