/** What a search among 100,000 live channels costs, compared with one look at every stream on the same machine. */
import { beforeAll, expect, test } from 'bun:test'
import { Directory } from '../../src/directory/directory.ts'
import { fits, parseChannelSearch } from '../../src/domain/search/channel-search.ts'
import { parseSiteSearch } from '../../src/domain/search/site-search.ts'
import { assertDefined } from '../../src/kit/assert-defined.ts'
import type { LiveStream } from '../../src/store/feed.ts'
import { live } from './world.ts'

const LIVE = 100_000
const ROUNDS = 15
const FIRST = ['dusty', 'lunar', 'quiet', 'amber', 'frozen', 'swift', 'hidden', 'golden']
const SECOND = ['koala', 'heron', 'otter', 'falcon', 'tiger', 'badger', 'moose']
const TITLES = ['speedrun practice', 'ranked climb', 'chill evening', 'boss rush', 'organized maze']
const at = <T>(some: readonly T[], n: number) => some[n % some.length] as T

const streams: LiveStream[] = Array.from({ length: LIVE }, (_, n) =>
  live(n, {
    user_login: `${at(FIRST, n * 7)}_${at(SECOND, n)}_${n}`,
    user_name: n % 4 === 0 ? `${at(SECOND, n)} the ${at(FIRST, n)} ${n}` : `${at(FIRST, n * 7)}_${n}`,
    game_id: String(n % 500),
    game_name: `Game ${n % 500}`,
    title: `${at(TITLES, n)} ${n === 77 ? 'xylophone' : ''}`,
    tags: ['English', at(SECOND, n * 3)],
    viewer_count: n % 4000,
  }),
)
const directory = new Directory({ publicUrl: '' })

/** The CPU time of the cheapest of some rounds: others may have been interrupted. */
function cpuMillis(work: () => unknown): number {
  let least = Number.POSITIVE_INFINITY
  for (let round = 0; round < ROUNDS; round++) {
    const start = process.cpuUsage()
    work()
    const { user, system } = process.cpuUsage(start)
    least = Math.min(least, (user + system) / 1000)
  }
  return least
}

/** Reads the texts of every stream once. */
function lookAtAll(): number {
  let found = 0
  for (const { user_login, user_name, game_name, title } of streams)
    if (`${user_login}\n${user_name}\n${game_name}\n${title}`.toLowerCase().includes('zzz')) found += 1
  return found
}

beforeAll(() => directory.reload(streams, { seq: 1, nonce: '' }))

test('a page of live channels costs a fraction of a look at all, with every kind of query, after changes too', () => {
  const whole = cpuMillis(lookAtAll)
  let seq = 1
  for (const query of ['d', 'dusty', 'koala the', 'game', 'game 499', 'zzz', 'dusty_koala_7']) {
    const search = assertDefined(parseChannelSearch(query), 'a query')
    const cost = cpuMillis(() => {
      const stream = { ...at(streams, ++seq * 31), user_login: `renamed_${seq}` }
      directory.apply({
        seq,
        nonce: '',
        previous: '',
        change: { kind: 'stream', stream, was: 1, was_game_id: stream.game_id },
      })
      const { rows } = directory.search(search, { first: 100, direction: 'forward' })
      for (const { user_login, user_name, game_name } of rows)
        if (![user_login, user_name, game_name].some(name => fits(search, name.toLowerCase())))
          throw new Error(`${user_login} does not fit`)
    })
    expect([query, cost < whole / 5]).toEqual([query, true])
  }
})

test('a search on the site costs less than a look at all, and finds one title among 100,000', () => {
  const whole = cpuMillis(lookAtAll)
  for (const query of [
    'd',
    'in',
    'koala',
    'oal',
    'dusty koala',
    'boss rush',
    'xylophone',
    'xyl',
    'zzz',
    'a b',
  ]) {
    const search = assertDefined(parseSiteSearch(query), 'a query')
    const cost = cpuMillis(() => directory.find(search, 24))
    expect([query, cost < whole / 2]).toEqual([query, true])
  }
  const [found] = directory.find(assertDefined(parseSiteSearch('xylophone'), 'a query'), 24)
  expect(found?.stream.user_id).toBe('77')
})
