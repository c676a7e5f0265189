import { createClient } from 'strand-client'

/** Seconds before the end of a token at which it is replaced. */
const MARGIN = 60

/**
 * A token function for the client: gets an app token with the client credentials, and keeps it until shortly before it expires,
 * or until the server rejects it.
 */
export function appToken({ baseUrl, ...credentials }) {
  const { oauth } = createClient({ baseUrl })
  let token
  let renewAt = 0
  return async rejected => {
    if (Date.now() >= renewAt || token === rejected) {
      const answer = await oauth.createToken({ grant_type: 'client_credentials', ...credentials })
      token = answer.access_token
      renewAt = Date.now() + (answer.expires_in - MARGIN) * 1000
    }
    return token
  }
}
