import { getSigningKeys } from '../../contract/oauth/get-signing-keys.ts'
import { implement } from '../implement.ts'

export const handleGetSigningKeys = implement(getSigningKeys, async (_call, { signingKeys }) => ({
  keys: await signingKeys.published(),
}))
