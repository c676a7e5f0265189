/**
 * The API as the scripts of the page will call it, for rendering the page: the same client, the same token and limits, and
 * so the same cursors. Requests are answered inside this process.
 */
import type { SiteGrant } from '../../auth/site-tokens.ts'
import { type Client, createClient } from '../../client/index.ts'
import type { Scope } from '../../contract/scope.ts'
import { SITE_CLIENT_ID } from '../../contract/site-client.ts'
import type { Browser } from './browser.ts'
import { type PageServices, readSession, type SessionServices } from './session.ts'

export async function apiFor(
  browser: Browser,
  services: SessionServices & Pick<PageServices, 'siteTokens' | 'callApi' | 'publicUrl'>,
  scopes: readonly Scope[] = [],
): Promise<Client> {
  const session = await readSession(browser, services)
  const grant = { session_id: session?.id ?? null, scopes: session === undefined ? [] : scopes }
  return inProcessClient(services, grant, request => services.callApi(request, browser.address))
}

/** The client of a program whose requests are answered inside this process, with a token of the site. */
export const inProcessClient = (
  { publicUrl, siteTokens, clock }: Pick<PageServices, 'publicUrl' | 'siteTokens' | 'clock'>,
  grant: SiteGrant,
  answer: (request: Request, url: string) => Response | Promise<Response>,
): Client =>
  createClient({
    baseUrl: publicUrl,
    clientId: SITE_CLIENT_ID,
    token: siteTokens.mint(grant, clock.now()).access_token,
    retries: 0,
    fetch: async (url, init) => answer(new Request(url, init), url),
  })
