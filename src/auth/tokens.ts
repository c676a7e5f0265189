import type { Client } from '../contract/resources/client.ts'
import type { TokenAnswer } from '../contract/resources/token.ts'
import { crc32Base62, sha256Hex } from '../kit/crypto/digest.ts'
import { randomAlphanumerics, uuidV7 } from '../kit/id.ts'
import { isoMillis } from '../kit/time/clock.ts'
import type { NewToken } from '../store/commands/tokens.ts'

/**
 * Secrets that Strand issues: a prefix for the kind, 190 random bits in base62, and a checksum, so that a mistyped or
 * invented one is rejected without a look-up and secret scanners can find a leaked one.
 */
const PREFIXES = {
  app: 'sapp',
  user: 'susr',
  refresh: 'sref',
  secret: 'ssec',
  operator: 'sopr',
  session: 'sses',
  code: 'scod',
  media: 'smed',
  reset: 'srst',
} as const
export type SecretKind = keyof typeof PREFIXES

const RANDOM_LENGTH = 32
const SHAPE = /^s(?:app|usr|ref|sec|opr|ses|cod|med|rst)_[A-Za-z0-9]{38}$/

export function mintSecret(kind: SecretKind, random = randomAlphanumerics(RANDOM_LENGTH)): string {
  const head = `${PREFIXES[kind]}_${random}`
  return head + crc32Base62(head)
}

/** Whether the text has the form and checksum of an issued secret. */
export function isWellFormed(text: string): boolean {
  return SHAPE.test(text) && crc32Base62(text.slice(0, -6)) === text.slice(-6)
}

/** The only form in which a token is stored. */
export const hashToken = sha256Hex

export interface Lifetimes {
  readonly app_seconds: number
  readonly user_seconds: number
  readonly refresh_seconds: number
  readonly code_seconds: number
  readonly device_code_seconds: number
  readonly session_seconds: number
}

/** Tokens ready to be stored, and the response that returns them to the client. */
export interface Issue {
  readonly rows: readonly NewToken[]
  readonly answer: TokenAnswer
}

export function issueAppToken(
  client_id: string,
  now: number,
  expires_in: number,
  access_token = mintSecret('app'),
): Issue {
  const row = {
    hash: hashToken(access_token),
    kind: 'app' as const,
    client_id,
    user_id: null,
    scopes: [],
    family: uuidV7(),
    expires_at: expiry(now, expires_in),
  }
  return { rows: [row], answer: { access_token, expires_in, token_type: 'bearer' } }
}

interface UserLifetimes {
  readonly user_seconds: number
  /** Undefined: valid until revoked. */
  readonly refresh_seconds: number | undefined
}

/** An access token and its refresh token; the owner may be known only to the store. */
export function mintPair(
  now: number,
  { user_seconds, refresh_seconds }: UserLifetimes,
  { access: access_token, refresh: refresh_token } = {
    access: mintSecret('user'),
    refresh: mintSecret('refresh'),
  },
) {
  return {
    access: { hash: hashToken(access_token), expires_at: expiry(now, user_seconds) },
    refresh: {
      hash: hashToken(refresh_token),
      expires_at: refresh_seconds === undefined ? NEVER : expiry(now, refresh_seconds),
    },
    answer: (scope: string[]) => ({
      access_token,
      expires_in: user_seconds,
      refresh_token,
      scope,
      token_type: 'bearer' as const,
    }),
  }
}

export function issueUserToken(
  owner: { client_id: string; user_id: string; scopes: readonly string[] },
  now: number,
  lifetimes: UserLifetimes,
  secrets?: { access: string; refresh: string },
): Issue {
  const { access, refresh, answer } = mintPair(now, lifetimes, secrets)
  const shared = { ...owner, family: uuidV7() }
  return {
    rows: [
      { ...shared, ...access, kind: 'user' },
      { ...shared, ...refresh, kind: 'refresh' },
    ],
    answer: answer([...owner.scopes]),
  }
}

/** Later than any other time in the store. */
const NEVER = '9999-12-31T23:59:59.999Z'

/** Refresh tokens of public clients expire; those of confidential clients are valid until revoked. */
export function userLifetimes(kind: Client['kind'], lifetimes: Lifetimes) {
  return { ...lifetimes, refresh_seconds: kind === 'public' ? lifetimes.refresh_seconds : undefined }
}

export function expiry(now: number, seconds: number): string {
  return isoMillis(now + seconds * 1000)
}
