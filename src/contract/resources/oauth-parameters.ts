import { Type } from '../schema.ts'
import { MAX_SCOPES } from '../scope.ts'

/**
 * The parameters of the OAuth side. All are optional to the parser, because a missing one has a message of its own that
 * clients match on. None may be much longer than anything that it can be, also with another server: a wrong value is hashed
 * and looked up before it is refused.
 */
export const text = (maxLength: number, description?: string) =>
  Type.Optional(Type.String({ maxLength, ...(description !== undefined && { description }) }))

export const ClientId = text(200)
export const ClientSecret = (description?: string) => text(1000, description)
/** Access and refresh tokens, codes. */
export const Token = text(4000)
export const GrantType = (description: string) => text(100, description)
export const RedirectUri = text(2100)

/** Far beyond what is allowed, so that too many scopes are refused as such. */
export const Scopes = (description: string) => text(16_000, `${description} At most ${MAX_SCOPES}.`)
