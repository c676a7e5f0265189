/** POST /site/token: a script exchanges the grant of its page, and the session of its browser, for a token (D-150). */
import type { SiteGrant } from '../../auth/site-tokens.ts'
import type { Scope } from '../../contract/scope.ts'
import { SITE_CLIENT_ID } from '../../contract/site-client.ts'
import { type PageHandler, type PageServices, readSession, type SessionServices } from '../request/session.ts'

const refusedWith = (message: string) => ({ status: 403, json: { error: 'Forbidden', status: 403, message } })

export const submitToken: PageHandler = async (
  browser,
  services: SessionServices & Pick<PageServices, 'siteTokens'>,
) => {
  const form = await browser.sameOriginForm()
  const grant = form && services.siteTokens.openGrant(form.get('grant') ?? '')
  if (grant === undefined) return refusedWith('The request must come from a page of this server.')
  // A page that was open before the log-in reads what visitors may read.
  if (grant.session_id !== null && (await readSession(browser, services))?.id !== grant.session_id)
    return refusedWith('The session of this page has ended. Reload the page.')
  const scopes = withinGrant(grant, form?.get('scope'))
  return {
    json: {
      ...services.siteTokens.mint({ ...grant, scopes }, services.clock.now()),
      token_type: 'bearer',
      client_id: SITE_CLIENT_ID,
      scope: scopes,
    },
  }
}

/** A script may ask for fewer scopes than its page has, separated by spaces; others have no effect. */
function withinGrant({ scopes }: SiteGrant, asked: string | undefined): readonly Scope[] {
  if (asked === undefined) return scopes
  const names = asked.split(' ')
  return scopes.filter(scope => names.includes(scope))
}
