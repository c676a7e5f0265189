import { StreamKeys } from '../../../src/auth/stream-keys.ts'
import { type LeastOperation, parameter } from './operation.ts'

export const getStreamKey: LeastOperation = ({ reader, ring }) => {
  const keys = new StreamKeys(ring)
  const currentOf = reader.get<{ slot: number; key_id: string; sealed: string }>(
    'select version as slot, key_id, sealed from stream_keys where user_id = ? order by version desc limit 1',
  )
  return (search, caller) => {
    const user_id = parameter(search, 'broadcaster_id')
    if (user_id === undefined || user_id !== caller?.user_id) throw new Error('not their own')
    const stored = currentOf(user_id)
    const key = stored === null ? undefined : keys.open(user_id, stored)
    if (key === undefined) throw new Error('no key')
    return `{"data":[{"stream_key":"${key}"}]}`
  }
}
