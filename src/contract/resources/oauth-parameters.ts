import { Type } from '../schema.ts'
import { MAX_SCOPES } from '../scope.ts'

/**
 * The parameters of the OAuth endpoints. All are optional to the parser, because clients match on the message for each
 * missing one. Their lengths are bounded, because a wrong value is hashed and looked up before it is rejected; the bounds
 * also fit the values of other servers.
 */
export const text = (maxLength: number, description?: string) =>
  Type.Optional(Type.String({ maxLength, ...(description !== undefined && { description }) }))

export const ClientId = text(200)
export const ClientSecret = (description?: string) => text(1000, description)
/** Access and refresh tokens, codes. */
export const Token = text(4000)
export const GrantType = (description: string) => text(100, description)
export const RedirectUri = text(2100)

/** Longer than allowed, so that too many scopes get their specific message. */
export const Scopes = (description: string) => text(16_000, `${description} At most ${MAX_SCOPES}.`)
