import { namedClient } from '../../auth/clients.ts'
import { POLL_INTERVAL_SECONDS } from '../../auth/oauth-limits.ts'
import { expiry, hashToken } from '../../auth/tokens.ts'
import { createDeviceCode } from '../../contract/oauth/create-device-code.ts'
import { isRefusal, refuse } from '../../contract/problem.ts'
import { randomAlphanumerics, randomLetters } from '../../kit/id.ts'
import { toSite } from '../../kit/network.ts'
import { implement } from '../implement.ts'
import { readScopes } from '../read-scopes.ts'

const USER_CODE_LENGTH = 8
const MAX_ATTEMPTS = 5

/**
 * A confidential client may omit its secret, as client libraries do: the device code is worthless until a user has allowed
 * access and the client sends its secret with the token request.
 */
export const handleCreateDeviceCode = implement(
  createDeviceCode,
  async ({ body, address }, { store, clock, lifetimes, publicUrl, attempts, limits, strict }) => {
    const client = await namedClient({ store, attempts, limits }, body, address)
    if (isRefusal(client)) return client
    if (!client.device_flow) return refuse('device_flow_off')
    const scopes = readScopes(body.scopes ?? body.scope, { strict })
    if (isRefusal(scopes)) return scopes
    const device_code = randomAlphanumerics(40)
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      const user_code = randomLetters(USER_CODE_LENGTH)
      const refused = await store.commands.startDevice({
        device: {
          hash: hashToken(device_code),
          user_code,
          client_id: client.id,
          scopes,
          expires_at: expiry(clock.now(), lifetimes.device_code_seconds),
          network: toSite(address()),
        },
      })
      if (refused?.problem === 'taken') continue
      return (
        refused ?? {
          device_code,
          expires_in: lifetimes.device_code_seconds,
          interval: POLL_INTERVAL_SECONDS,
          user_code,
          verification_uri: `${publicUrl}/activate?device-code=${user_code}`,
        }
      )
    }
    return refuse('unavailable')
  },
)
