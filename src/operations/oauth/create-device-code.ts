import { expiry, hashOf } from '../../auth/tokens.ts'
import { createDeviceCode } from '../../contract/oauth/create-device-code.ts'
import { raise } from '../../contract/problem.ts'
import { randomAlphanumerics, randomLetters } from '../../kit/id.ts'
import { implement } from '../implement.ts'
import { readScopes } from '../read-scopes.ts'

const INTERVAL_SECONDS = 5
const USER_CODE_LENGTH = 8
const TRIES = 5

export const handleCreateDeviceCode = implement(
  createDeviceCode,
  async ({ body }, { store, clock, lifetimes, publicUrl }) => {
    const client_id = body.client_id ?? raise('missing_client_id')
    const scopes = readScopes(body.scopes ?? body.scope)
    const device_code = randomAlphanumerics(40)
    for (let attempt = 1; attempt <= TRIES; attempt++) {
      const user_code = randomLetters(USER_CODE_LENGTH)
      const outcome = await store.commands.startDevice({
        device: {
          hash: hashOf(device_code),
          user_code,
          client_id,
          scopes,
          expires_at: expiry(clock.now(), lifetimes.device_code_seconds),
        },
      })
      if (outcome === 'unknown_client') raise('invalid_client')
      if (outcome === 'done') {
        const verification_uri = `${publicUrl}/activate?device-code=${user_code}`
        return {
          device_code,
          expires_in: lifetimes.device_code_seconds,
          interval: INTERVAL_SECONDS,
          user_code,
          verification_uri,
        }
      }
    }
    return raise('unavailable')
  },
)
