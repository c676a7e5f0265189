import { readBasicCredentials } from '../../auth/basic-credentials.ts'
import { createOpenidToken } from '../../contract/oauth/create-openid-token.ts'
import { isRefusal, refuse } from '../../contract/problem.ts'
import { implement } from '../implement.ts'
import { exchange, type TokenServices } from './create-token.ts'

export const handleCreateOpenidToken = implement(
  createOpenidToken,
  async ({ body, authorization, address }, services: TokenServices) => {
    const basic = readBasicCredentials(authorization)
    if (basic === 'malformed') return refuse('malformed_basic')
    const hasTwoCredentials =
      basic !== undefined &&
      (body.client_secret !== undefined || (body.client_id ?? basic.client_id) !== basic.client_id)
    if (hasTwoCredentials) return refuse('two_credentials')
    const exchanged = await exchange({ ...body, ...basic }, services, address)
    if (isRefusal(exchanged)) return exchanged
    const { scope, ...answer } = exchanged
    return { ...answer, ...(scope !== undefined && { scope: scope.join(' ') }) }
  },
)
