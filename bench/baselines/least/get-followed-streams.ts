import type { Channel } from '../../../src/directory/live-rows.ts'
import { loadDirectory, pageText } from './live-streams.ts'
import { type LeastOperation, parameter } from './operation.ts'

const FIRST_PAGE = { first: 100, direction: 'forward' } as const

/** Whom a user follows is read when first asked for, and kept. */
export const getFollowedStreams: LeastOperation = async services => {
  const directory = await loadDirectory(services)
  const known = new Map<string, readonly Channel[]>()
  const followsOf = services.reader.all<{ broadcaster_id: string }>(
    'select broadcaster_id from follows where user_id = ?',
  )
  const lookUp = (user_id: string) => {
    const channels = directory.keepChannels(followsOf(user_id).map(row => row.broadcaster_id))
    known.set(user_id, channels)
    return channels
  }
  return (search, caller) => {
    const user_id = parameter(search, 'user_id')
    if (user_id === undefined || user_id !== caller?.user_id) throw new Error('not their own')
    const page = directory.pageOfChannels(known.get(user_id) ?? lookUp(user_id), FIRST_PAGE)
    return pageText(services, page, () =>
      JSON.stringify([
        'GetFollowedStreams',
        [['user_id', user_id]],
        `user ${caller.client_id} ${caller.user_id}`,
      ]),
    )
  }
}
