/** How many rows of each kind are kept; `caps.ts` explains why. */
import { limitedTo, type Sql, sql } from '../sql/tag.ts'

export const CAPS = {
  /** Device codes requested from one network. Most are abandoned: a user types a code within minutes or never. */
  deviceCodesOfNetwork: 100,
  deviceCodesOfClient: 10_000,
  /** Authorization codes of a user for a client, including used ones. */
  codesOfUserAndClient: 100,
  /** Grants of a user for a client. A grant is the family of tokens that came from one consent. */
  grantsOfUserAndClient: 200,
  /** Grants of a user for a client that a demo mints without consent. */
  mintedGrantsOfUserAndClient: 1000,
  accessTokensOfGrant: 50,
  /** Used refresh tokens, kept to detect a second use. */
  usedRefreshTokensOfGrant: 50,
  appTokensOfClient: 2000,
  sessionsOfUser: 100,
  /** Subscriptions that have ended, which a client can still list. */
  endedSubscriptionsOfClient: 1000,
} as const

/** Maximum rows deleted per command: keeps it short even on a store filled before there were caps. */
const BATCH_SIZE = 200

/** The rows beyond the cap, of a list that is sorted newest first and excludes the row just added. */
export const after = (cap: number): Sql => sql`${limitedTo(BATCH_SIZE)} offset cast(${cap - 1} as integer)`
