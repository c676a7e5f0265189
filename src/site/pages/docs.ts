/** The API reference at /docs. */
import type { Family } from '../../contract/operation.ts'
import { LANGUAGES } from '../../contract/reference/examples/languages.ts'
import type { ConstantParts } from '../render/constant-parts.ts'
import type { Page } from '../render/page.ts'
import type { Browser } from '../request/browser.ts'
import { type PageServices, readSession, type SessionServices } from '../request/session.ts'
import { docsPage, type ReferenceOptions, renderReference } from './docs-view.tsx'

export interface DocsServices extends SessionServices, Pick<PageServices, 'strict'> {
  /** The API reference of these families. */
  readonly reference: (families: readonly Family[]) => ConstantParts
}

/** The reference of a set of families; each is rendered once. */
export function createReference(options: ReferenceOptions): DocsServices['reference'] {
  const made = new Map<string, ConstantParts>()
  return families => {
    const name = families.join()
    const reference = made.get(name) ?? renderReference(families, options)
    made.set(name, reference)
    return reference
  }
}

/** On a listener of the control API alone there are no sessions. */
export async function showDocs(
  browser: Browser,
  services: DocsServices,
  families: readonly Family[],
): Promise<Page> {
  const isPublic = families.includes('oauth')
  const session = isPublic ? await readSession(browser, services) : undefined
  const user = session && { id: session.user_id, login: session.login, name: session.display_name }
  const reader = { user: user ?? null, isStrict: services.strict }
  const language = LANGUAGES.find(({ name }) => name === browser.exampleLanguage)?.name ?? 'curl'
  return docsPage(services.reference(families), reader, families, language)
}
