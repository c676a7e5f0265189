import { expect, test } from 'bun:test'
import { Directory } from '../../src/directory/directory.ts'
import { Followings } from '../../src/directory/followings.ts'
import type { Change } from '../../src/store/feed.ts'
import type { Store } from '../../src/store/store.ts'

const FORWARD = { first: 100, direction: 'forward' } as const

const liveStream = {
  id: '1',
  user_id: '1',
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
  const stream = { ...liveStream, user_id: 'channel of regular' }
  directory.apply({
    seq: 1,
    nonce: 'n',
    previous: '',
    change: { kind: 'stream', stream, was: null, was_game_id: '' },
  })
  const seats = await followings.of('regular')
  expect(directory.pageOfChannels(seats, FORWARD).rows).toHaveLength(1)
})

test('a channel stays known while one list has it, whichever lists were dropped', async () => {
  const follows = {
    of: async (user_id: string) => [`only ${user_id}`, 'shared'],
  } as unknown as Store['follows']
  const directory = new Directory({ publicUrl: '' })
  const followings = new Followings({ follows }, directory, 30)
  for (let n = 0; n < 200; n++) await followings.of(`passing ${n}`)
  await followings.of('regular')
  let seq = 0
  const apply = (change: Change) => {
    seq += 1
    for (const follower of [directory, followings])
      follower.apply({ seq, nonce: `n${seq}`, previous: `n${seq - 1}`, change })
  }
  const start = (id: string, user_id: string) =>
    apply({ kind: 'stream', stream: { ...liveStream, id, user_id }, was: null, was_game_id: '' })
  const seen = async () =>
    directory.pageOfChannels(await followings.of('regular'), FORWARD).rows.map(row => row.id)
  apply({ kind: 'follows', user_ids: ['passing 199', 'passing 0', 'unknown'] })
  start('2', 'shared')
  start('3', 'only regular')
  expect(await seen()).toEqual(['3', '2'])
  apply({ kind: 'follows', user_ids: ['regular'] })
  expect(await seen()).toEqual(['3', '2'])
  const reload = await followings.load()
  reload()
  expect(await seen()).toEqual(['3', '2'])
  apply({ kind: 'end', user_id: 'shared', stream_id: '2', game_id: '', viewer_count: 0 })
  expect(await seen()).toEqual(['3'])
  start('6', 'shared')
  expect(await seen()).toEqual(['6', '3'])
})
