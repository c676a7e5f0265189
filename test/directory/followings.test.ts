import { expect, test } from 'bun:test'
import { Directory } from '../../src/directory/directory.ts'
import { Followings } from '../../src/directory/followings.ts'
import type { Store } from '../../src/store/store.ts'

const FORWARD = { first: 100, direction: 'forward' } as const

test('what many users follow fits into bounded memory, and those in use stay known', async () => {
  const asked = new Map<string, number>()
  const follows = {
    of: async (user_id: string) => {
      asked.set(user_id, (asked.get(user_id) ?? 0) + 1)
      return [`channel of ${user_id}`, 'channel of all']
    },
  } as unknown as Store['follows']
  const directory = new Directory({ publicUrl: '' })
  const followings = new Followings({ follows }, directory, 30)
  for (let n = 0; n < 200; n++) {
    await followings.of(`passing ${n}`)
    if (n % 5 === 0) await followings.of('regular')
  }
  expect(asked.get('regular')).toBe(1)
  expect(asked.get('passing 199')).toBe(1)
  await followings.of('passing 0')
  expect(asked.get('passing 0')).toBe(2)

  // A seat that is still kept is found when its channel goes live.
  const stream = {
    id: '1',
    user_id: 'channel of regular',
    user_login: 'one',
    user_name: 'One',
    game_id: '',
    game_name: '',
    title: '',
    viewer_count: 0,
    started_at: '2026-03-01T12:00:00Z',
    language: 'en',
    tags: [],
    is_mature: false,
  }
  directory.apply({ seq: 1, nonce: 'n', previous: '', change: { kind: 'stream', stream, was: null } })
  const seats = await followings.of('regular')
  expect(directory.pageOfChannels(seats, FORWARD).rows).toHaveLength(1)
})
