import { lazy } from '../../kit/lazy.ts'

const names = lazy(() => new Intl.DisplayNames('en', { type: 'language', fallback: 'code' }))

/** The English name of a language; what is no code stays as it is. */
export function languageName(code: string): string {
  return /^[a-z]{2,3}$/.test(code) ? (names().of(code) ?? code) : code
}
