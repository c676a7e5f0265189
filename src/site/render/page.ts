/** What a handler of the site returns. */
import type { ComponentChildren } from 'preact'
import type { Scope } from '../../contract/scope.ts'
import type { ConstantParts } from './constant-parts.ts'
import type { PageSummary } from './summary.tsx'

export interface Page {
  readonly title: string
  readonly body: ComponentChildren
  readonly status?: number
  /** What search engines and other sites show of the page. Pages without it are for neither. */
  readonly summary?: PageSummary | undefined
  /** The Retry-After of a temporary failure. */
  readonly retryAfterSeconds?: number
  /** Its style sheet, `styles/<style>.css`, which no other page loads, and the class of its body, `<style>-page`. Default: `form`. */
  readonly style?: PageStyle
  /** The entry of the navigation that this page belongs to. */
  readonly section?: Section
  /** The listener of the control API has no site around its pages. */
  readonly listener?: 'operator'
  /** The scopes of the token that the islands of this page get, if the visitor is logged in. */
  readonly scopes?: readonly Scope[]
  /** The search text in the header. */
  readonly query?: string | undefined
  /** The body has header, navigation and main element of its kind, as in the console. */
  readonly isWhole?: boolean
  /** Where the page loads video from, if it plays any: URLs of other origins; others are ignored (D-264). */
  readonly media?: readonly (string | null | undefined)[]
  /** Large parts of the body that are the same for everyone; the body has their placeholders. */
  readonly constantParts?: ConstantParts
}

/** The styles of pages: `form` for one thing to decide or to read, the others by the page. */
type PageStyle = 'form' | 'account' | 'console' | 'docs' | 'drops' | 'home' | 'studio' | 'watch'

/** How the site looks, if that was chosen. */
export type Theme = 'light' | 'dark'

export type Section = 'live' | 'games' | 'studio' | 'drops' | 'account'

/** A file that a browser saves. A stream may have any length. */
interface SavedFile {
  readonly name: string
  readonly mediaType: string
  readonly content: string | ReadableStream<Uint8Array>
}

/** A page, a redirect, data for a script, or a file to save. */
export type PageAnswer =
  | Page
  | { readonly goTo: string }
  | { readonly json: object; readonly status?: number }
  | { readonly file: SavedFile }
