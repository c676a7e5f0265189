import { expect, test } from 'bun:test'
import { KeyRing } from '../../src/kit/crypto/key-ring.ts'
import { KnownBrowsers } from '../../src/site/request/known-browsers.ts'

const key = (id: string, byte: number) => ({ id, bytes: Buffer.alloc(32, byte) })
const account = (id: string, password_hash: string | null = 'hash') => ({ id, password_hash })

test('a browser stays known while its master key is in the ring, and the newest key marks it again', () => {
  const ring = new KeyRing([key('old', 1)])
  const browsers = new KnownBrowsers(ring)
  const cookie = browsers.remember(undefined, account('1'))
  const id = browsers.findBrowserId(cookie, account('1'))
  expect(id).toBe(cookie.slice(0, 20))
  ring.take([key('new', 2), key('old', 1)])
  expect(browsers.findBrowserId(cookie, account('1'))).toBe(id as string)
  const marked = browsers.remember(cookie, account('1'))
  expect(marked).toHaveLength(cookie.length)
  ring.take([key('new', 2)])
  expect(browsers.findBrowserId(cookie, account('1'))).toBeUndefined()
  expect(browsers.findBrowserId(marked, account('1'))).toBe(id as string)
})

test('of more than eight accounts the ones opened last are known', () => {
  const browsers = new KnownBrowsers(new KeyRing([key('only', 1)]))
  let cookie: string | undefined
  for (const id of ['1', '2', '3', '1', '4', '5', '6', '7', '8', '9'])
    cookie = browsers.remember(cookie, account(id))
  const known = ['1', '2', '3', '4', '5', '6', '7', '8', '9'].filter(id =>
    browsers.findBrowserId(cookie, account(id)),
  )
  expect(known).toEqual(['1', '3', '4', '5', '6', '7', '8', '9'])
})

test('a cookie that is not well formed, or names another password, is unknown', () => {
  const browsers = new KnownBrowsers(new KeyRing([key('only', 1)]))
  const cookie = browsers.remember(undefined, account('1'))
  for (const odd of [
    undefined,
    '',
    'x',
    `${cookie}0`,
    cookie.toUpperCase(),
    cookie.slice(0, -1),
    `${cookie}${'0'.repeat(24 * 8)}`,
  ])
    expect(browsers.findBrowserId(odd, account('1'))).toBeUndefined()
  expect(browsers.findBrowserId(cookie, account('2'))).toBeUndefined()
  expect(browsers.findBrowserId(cookie, account('1', 'another hash'))).toBeUndefined()
  expect(browsers.findBrowserId(cookie, account('1', null))).toBeUndefined()
})
