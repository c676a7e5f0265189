/** The API for the scripts of pages: the same typed client that programs use, with the token of the page. */
import { createClient } from '../../client/index.ts'
import { SITE_CLIENT_ID } from '../../contract/site-client.ts'
import { lazy } from '../../kit/lazy.ts'
import { PageToken } from './page-token.ts'

/** Created on first use, because the server renders the components that use it. */
export const api = lazy(() => {
  const token = new PageToken()
  return createClient({
    baseUrl: location.origin,
    clientId: SITE_CLIENT_ID,
    token: () => token.get(),
    fetch: async (url, init) => {
      const response = await fetch(url, init)
      // The session may have ended, or the page slept for long: the next call gets another token, or learns why not.
      if (response.status === 401) token.forget()
      return response
    },
  })
})
