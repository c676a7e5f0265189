import { readBasicCredentials } from '../../auth/basic-credentials.ts'
import { createOpenidToken } from '../../contract/oauth/create-openid-token.ts'
import { raise } from '../../contract/problem.ts'
import { implement } from '../implement.ts'
import { exchange } from './create-token.ts'

export const handleCreateOpenidToken = implement(
  createOpenidToken,
  async ({ body, authorization, address }, services) => {
    const basic = readBasicCredentials(authorization)
    if (basic === 'malformed') return raise('malformed_basic')
    const isTwice =
      basic !== undefined &&
      (body.client_secret !== undefined || (body.client_id ?? basic.client_id) !== basic.client_id)
    if (isTwice) return raise('two_credentials')
    const { scope, ...answer } = await exchange({ ...body, ...basic }, services, address)
    return { ...answer, ...(scope !== undefined && { scope: scope.join(' ') }) }
  },
)
