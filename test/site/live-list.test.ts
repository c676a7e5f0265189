/** Cards stay where they are while people look at them. */
import { expect, test } from 'bun:test'
import { lookedUp, refreshed, toLiveList, withMore } from '../../src/site/components/live-list.ts'
import type { ShownStream } from '../../src/site/components/stream-card.tsx'

const stream = (name: string, viewer_count = 1, more: Partial<ShownStream> = {}): ShownStream => ({
  id: `stream of ${name}`,
  user_id: name,
  user_login: name,
  user_name: name,
  game_id: '1',
  game_name: 'Tidefall',
  title: '',
  viewer_count,
  started_at: '2026-03-01T12:00:00Z',
  tags: [],
  ...more,
})
const names = ({ streams }: { streams: readonly ShownStream[] }) => streams.map(each => each.user_id).join('')

test('another order changes numbers and no place', () => {
  const list = toLiveList([stream('a', 9), stream('b', 5)])
  const after = refreshed(list, [stream('b', 20), stream('a', 9)], false)
  expect([names(after), after.streams[1]?.viewer_count]).toEqual(['ab', 20])
  // What has not changed is the same object: its card is not rendered again.
  expect(after.streams[0]).toBe(list.streams[0] as ShownStream)
})

test('a new channel is added at the end of a whole list, and counted in another', () => {
  const list = toLiveList([stream('a', 9), stream('b', 5)])
  const top = [stream('c', 10), stream('a', 9), stream('b', 5)]
  expect(names(refreshed(list, top, true))).toBe('abc')
  const more = refreshed(list, top, false)
  expect([names(more), more.waiting]).toEqual(['ab', 1])
})

test('a stream that ends stays as ended, and is live again as another stream', () => {
  const list = toLiveList([stream('a'), stream('b')])
  const ended = refreshed(list, [stream('a')], true)
  expect([names(ended), [...ended.ended]]).toEqual(['ab', ['stream of b']])
  const again = refreshed(ended, [stream('a'), stream('b', 1, { id: 'another' })], true)
  expect(again.ended.has(again.streams[1]?.id ?? '')).toBe(false)
})

test('beyond the first hundred, a stream has ended only if a look-up does not find it', () => {
  const list = toLiveList([stream('a'), stream('b'), stream('c')])
  expect([...refreshed(list, [stream('a')], false).ended]).toEqual([])
  const after = lookedUp(list, ['b', 'c'], [stream('c', 7)])
  expect([names(after), [...after.ended], after.streams[2]?.viewer_count]).toEqual([
    'abc',
    ['stream of b'],
    7,
  ])
})

test('the next page adds each channel once', () => {
  expect(names(withMore(toLiveList([stream('a'), stream('b')]), [stream('b'), stream('c')]))).toBe('abc')
})
