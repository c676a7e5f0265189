/**
 * The API as the scripts of the page will call it, for rendering the page: the same client, the same token and limits, and
 * so the same cursors. Requests are answered inside this process.
 */
import { type Client, createClient } from '../client/index.ts'
import type { Scope } from '../contract/scope.ts'
import { SITE_CLIENT_ID } from '../contract/site-client.ts'
import type { Browser } from './browser.ts'
import { type PageServices, type SessionServices, sessionOf } from './session.ts'

export async function apiFor(
  browser: Browser,
  services: SessionServices & Pick<PageServices, 'siteTokens' | 'callApi' | 'publicUrl'>,
  scopes: readonly Scope[] = [],
): Promise<Client> {
  const session = await sessionOf(browser, services)
  const grant = { session_id: session?.id ?? null, scopes: session === undefined ? [] : scopes }
  return createClient({
    baseUrl: services.publicUrl,
    clientId: SITE_CLIENT_ID,
    token: services.siteTokens.mint(grant, services.clock.now()).access_token,
    retries: 0,
    fetch: async (url, init) => services.callApi(new Request(url, init), browser.address),
  })
}
