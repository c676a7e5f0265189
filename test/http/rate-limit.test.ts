import { afterEach, describe, expect, setSystemTime, test } from 'bun:test'
import { BlockList } from 'node:net'
import fc from 'fast-check'
import { clientAddress } from '../../src/http/client-address.ts'
import { LocalLimiter } from '../../src/http/limits/rate-limit.ts'
import { NO_PEER, RequestContext } from '../../src/http/request-context.ts'
import { readNetworks } from '../../src/kit/networks.ts'

const anonymous = { kind: 'anonymous' } as const
const app = { kind: 'app', client_id: 'c', organization_id: null } as const
const user = (id: string) =>
  ({ kind: 'user', client_id: 'c', organization_id: null, user_id: id, login: id, scopes: [] }) as const

describe('token buckets', () => {
  let monotonic = 0
  const fresh = (limit: number) => {
    monotonic = 0
    return new LocalLimiter({ app: limit, user: limit, anonymous: limit }, () => monotonic)
  }
  afterEach(() => {
    setSystemTime()
  })

  test('admit the limit, refuse the next, and fill again within a minute', () => {
    setSystemTime(new Date('2026-03-01T12:00:00.000Z'))
    const limiter = fresh(60)
    for (let n = 59; n >= 0; n--)
      expect(limiter.takeLocally(app, () => '')).toMatchObject({ allowed: true, remaining: n, limit: 60 })
    const refused = limiter.takeLocally(app, () => '')
    expect(refused).toMatchObject({ allowed: false, remaining: 0 })
    expect(refused.reset).toBe(Date.parse('2026-03-01T12:01:00.000Z') / 1000)
    monotonic = 2000
    expect([
      limiter.takeLocally(app, () => '').allowed,
      limiter.takeLocally(app, () => '').allowed,
      limiter.takeLocally(app, () => '').allowed,
    ]).toEqual([true, true, false])
    monotonic = 30 * 60_000
    expect(limiter.takeLocally(app, () => '').remaining).toBe(59)
  })

  test('a clock that is set neither fills a bucket nor keeps it empty', () => {
    setSystemTime(new Date('2026-03-01T12:00:00.000Z'))
    const limiter = fresh(60)
    for (let n = 0; n < 60; n++) limiter.takeLocally(app, () => '')
    setSystemTime(new Date('2026-04-30T12:00:00.000Z'))
    expect(limiter.takeLocally(app, () => '').allowed).toBe(false)
    setSystemTime(new Date('2026-03-01T07:00:00.000Z'))
    monotonic = 1000
    expect(limiter.takeLocally(app, () => '')).toMatchObject({ allowed: true, remaining: 0 })
  })

  test('one bucket per client, per client and user, per address; an IPv6 network is one address', () => {
    const limiter = new LocalLimiter({ app: 5, user: 5, anonymous: 5 })
    expect(limiter.takeLocally(app, () => '1.1.1.1').remaining).toBe(4)
    expect(limiter.takeLocally(app, () => '2.2.2.2').remaining).toBe(3)
    expect(limiter.takeLocally(user('1'), () => '').remaining).toBe(4)
    expect(limiter.takeLocally(user('2'), () => '').remaining).toBe(4)
    expect(limiter.takeLocally(anonymous, () => '1.1.1.1').remaining).toBe(4)
    expect(limiter.takeLocally(anonymous, () => '2.2.2.2').remaining).toBe(4)
    expect(limiter.takeLocally(anonymous, () => '2001:db8:0:1::5').remaining).toBe(4)
    expect(limiter.takeLocally(anonymous, () => '2001:db8:0:1:ffff::9').remaining).toBe(3)
    expect(limiter.takeLocally(anonymous, () => '2001:db8:0:2::5').remaining).toBe(4)
  })

  test('the tokens of a user share a bucket, also after more callers than are kept', () => {
    const limiter = fresh(60)
    const [one, other] = [user('1'), user('1')]
    let others = 0
    for (let taken = 0; taken < 30; taken += 3) {
      expect(limiter.takeLocally(one, () => '').remaining).toBe(59 - taken)
      for (let n = 0; n < 30_000; n++) limiter.takeLocally(user(`other ${others++}`), () => '')
      expect(limiter.takeLocally(one, () => '').remaining).toBe(58 - taken)
      expect(limiter.takeLocally(other, () => '').remaining).toBe(57 - taken)
    }
  })

  test('0 switches a bucket off and shows a full one', () => {
    const limiter = new LocalLimiter({ app: 0, user: 0, anonymous: 0 })
    for (let n = 0; n < 1000; n++)
      expect(limiter.takeLocally(app, () => '')).toMatchObject({ allowed: true, limit: 800, remaining: 800 })
  })
})

describe('the address of a caller', () => {
  test('is read once: after a hang-up it is unknown', () => {
    const addresses = ['192.0.2.7', '']
    const peer = { ...NO_PEER, address: () => addresses.shift() ?? '' }
    const { address } = new RequestContext(new Request('http://localhost/helix/streams'), peer)
    expect([address(), address()]).toEqual(['192.0.2.7', '192.0.2.7'])
  })

  const trusted = readNetworks(['10.0.0.0/8', '::1'])

  test('is the peer unless a trusted proxy names another', () => {
    if (trusted === undefined) throw new Error('the networks are well formed')
    expect(clientAddress('9.9.9.9', '1.2.3.4', trusted)).toBe('9.9.9.9')
    expect(clientAddress('10.1.1.1', '1.2.3.4', trusted)).toBe('1.2.3.4')
    expect(clientAddress('::1', '1.2.3.4, 10.2.2.2', trusted)).toBe('1.2.3.4')
    expect(clientAddress('10.1.1.1', 'forged, 1.2.3.4', trusted)).toBe('1.2.3.4')
    expect(clientAddress('10.1.1.1', 'nonsense', trusted)).toBe('10.1.1.1')
    expect(clientAddress('10.1.1.1', null, trusted)).toBe('10.1.1.1')
    expect(clientAddress('10.1.1.1', '', trusted)).toBe('10.1.1.1')
    expect(clientAddress('10.1.1.1', '10.2.2.2, 10.3.3.3', trusted)).toBe('10.1.1.1')
    expect(clientAddress('10.1.1.1', '1.2.3.4,', trusted)).toBe('10.1.1.1')
    expect(clientAddress('::ffff:10.1.1.1', ' 2001:db8::1 ,::1', trusted)).toBe('2001:db8::1')
    expect(clientAddress('', '1.2.3.4', trusted)).toBe('')
  })

  test('is looked up in networks as the runtime does it', () => {
    const near = fc.integer({ min: -2, max: 2 })
    const bits = fc.integer({ min: 0, max: 32 })
    const value = fc.integer({ min: 0, max: 0xffffffff })
    const dotted = (of: number) => [24, 16, 8, 0].map(shift => (of >>> shift) & 255).join('.')
    fc.assert(
      fc.property(fc.array(fc.tuple(value, bits), { maxLength: 3 }), value, near, (networks, other, by) => {
        const list = new BlockList()
        for (const [base, prefix] of networks) list.addSubnet(dotted(base), prefix, 'ipv4')
        const read = readNetworks(networks.map(([base, prefix]) => `${dotted(base)}/${prefix}`))
        for (const address of [other, ...networks.map(([base]) => base + by)].map(dotted)) {
          expect(read?.has(address)).toBe(list.check(address, 'ipv4'))
          expect(read?.has(`::ffff:${address}`)).toBe(list.check(address, 'ipv4'))
        }
      }),
    )
  })

  test('networks that are none are refused', () => {
    for (const bad of ['10.0.0.0/33', 'localhost', '1.2.3', '::1/129', ''])
      expect(readNetworks([bad])).toBeUndefined()
  })
})
