import type { StreamKeys } from '../../auth/stream-keys.ts'
import { issueAppToken, issueUserToken } from '../../auth/tokens.ts'
import type { User } from '../../contract/resources/user.ts'
import type { Step } from '../../store/command-list.ts'
import { demoRandom, demoSecret } from '../demo-secret.ts'

export const TOKEN_SECONDS = 60 * 24 * 3600

/** A world being planned: the commands so far, and what later ones depend on. */
export interface Draft {
  readonly steps: Step[]
  readonly seed: number
  readonly now: number
  readonly streamKeys: StreamKeys
  readonly password_hash: string
}

interface DraftUser {
  readonly id: string
  readonly login: string
  readonly display_name: string
  readonly description?: string | undefined
  readonly broadcaster_type?: User['broadcaster_type'] | undefined
  readonly email?: string | undefined
  readonly created: number
  readonly isNew?: boolean
}

export function putUser({ steps, seed, streamKeys, password_hash }: Draft, user: DraftUser): void {
  const { created: now, ...fields } = user
  const stream_key = streamKeys.mint(user.id, 1, demoRandom(seed, `stream key ${user.id}`, 30)).stored
  steps.push(['putUser', { ...fields, password_hash, stream_key, now }])
}

interface DraftToken {
  readonly token: string
  readonly client_id: string
  /** Without a user it is an app token. */
  readonly user_id?: string | undefined
  readonly scopes?: readonly string[]
  readonly seconds?: number | undefined
  /** The name that the refresh token is derived from. */
  readonly name: string
}

export function issueToken({ steps, seed }: Draft, now: number, wanted: DraftToken): void {
  const { token, client_id, user_id, scopes = [], seconds = TOKEN_SECONDS, name } = wanted
  const { rows } =
    user_id === undefined
      ? issueAppToken(client_id, now, seconds, token)
      : issueUserToken(
          { client_id, user_id, scopes },
          now,
          { user_seconds: seconds, refresh_seconds: seconds },
          { access: token, refresh: demoSecret(seed, 'refresh', name) },
        )
  steps.push(['issueTokens', { tokens: rows }])
}
