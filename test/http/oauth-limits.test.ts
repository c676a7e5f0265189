/** How often the OAuth side may be asked, by whom, and what is answered then. */
import { describe, expect, test } from 'bun:test'
import { OAuthLimits } from '../../src/auth/oauth-limits.ts'
import { operations } from '../../src/contract/index.ts'
import { familyOf } from '../../src/contract/operation.ts'
import { Problem } from '../../src/contract/problem.ts'
import { type Networks, readNetworks } from '../../src/kit/networks.ts'
import { isConsolePath, PAGES } from '../../src/site/pages.ts'
import { register, validate } from '../support/browser/consent.ts'
import { onEachStore } from '../support/server/each-store.ts'
import type { TestServer } from '../support/server.ts'

const trustedProxies = readNetworks(['127.0.0.1', '::1']) as Networks
const from = (address: string) => ({ 'X-Forwarded-For': address })

/** Every way into the OAuth side: its operations by both names, and the pages. The console is not reached through a proxy. */
const ways = [
  ...operations
    .filter(operation => familyOf(operation) === 'oauth')
    .flatMap(({ method, path }) => [
      { method, path },
      { method, path: path.replace('/oauth2/', '/auth/') },
    ]),
  ...Object.entries(PAGES)
    .filter(([path]) => !isConsolePath(path))
    .flatMap(([path, byMethod]) =>
      Object.keys(byMethod).map(method => ({ method, path: path.replace('{login}', 'a_channel') })),
    ),
]

const send = (server: TestServer, { method, path }: { method: string; path: string }, address: string) =>
  fetch(server.url + path, {
    method,
    headers: { ...from(address), Accept: 'text/html' },
    redirect: 'manual',
  })

onEachStore(
  'an address that asks too often',
  { config: { oauthRates: { address: 3, client: 0, validation: 0 }, trustedProxies, signUp: true } },
  server => {
    test('429 on every operation and page, with Retry-After; other addresses are answered', async () => {
      for (const [n, way] of ways.entries()) {
        const [address, other] = [`192.0.2.${n}`, `198.51.100.${n}`]
        let refused: Response | undefined
        for (let tries = 0; tries < 8 && refused?.status !== 429; tries++) {
          await refused?.arrayBuffer()
          refused = await send(server(), way, address)
        }
        if (refused === undefined) throw new Error('nothing was answered')
        expect([way, refused.status]).toEqual([way, 429])
        expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
        expect(refused.headers.get('cache-control')).toBe('no-store')
        const text = await refused.text()
        if (refused.headers.get('content-type') === 'application/json') {
          expect(JSON.parse(text)).toMatchObject({
            status: 429,
            message: expect.stringMatching(/^too many requests/),
          })
        } else expect(text).toContain('Too many requests')
        const free = await send(server(), way, other)
        await free.arrayBuffer()
        expect([way, free.status === 429]).toEqual([way, false])
      }
    })

    test('200 a good token is validated all the same', async () => {
      const { app_token } = server().world.client
      for (let n = 0; n < 20; n++) expect((await validate(server(), app_token)).status).toBe(200)
    })
  },
)

onEachStore(
  'a client that asks too often',
  { config: { oauthRates: { address: 0, client: 5, validation: 0 } } },
  server => {
    const appToken = ({ id, secret }: { id: string; secret?: string }) =>
      server().call({
        method: 'POST',
        path: '/oauth2/token',
        body: { grant_type: 'client_credentials', client_id: id, client_secret: secret },
      })
    const device = ({ id }: { id: string }) =>
      server().call({ method: 'POST', path: '/oauth2/device', query: { client_id: id } })
    const statusesOf = async (times: number, call: () => Promise<{ status: number }>) => {
      const statuses: number[] = []
      for (let n = 0; n < times; n++) statuses.push((await call()).status)
      return statuses
    }

    test('429 after its points are used up; other clients are answered', async () => {
      const [busy, other] = [await register(server()), await register(server())]
      const statuses = await statusesOf(10, () => appToken(busy))
      expect([statuses[0], statuses.at(-1)]).toEqual([200, 429])
      expect((await appToken(busy)).problem).toBe('too_many_requests')
      expect((await appToken(other)).status).toBe(200)
    })

    test('200 a client with a secret is not kept from its tokens by strangers who name it', async () => {
      const client = await register(server(), { device_flow: true })
      expect((await statusesOf(10, () => device(client))).at(-1)).toBe(429)
      // A wrong secret proves nothing, and costs the client nothing.
      const wrong = await statusesOf(10, () => appToken({ id: client.id, secret: 'wrong' }))
      expect(wrong.slice(0, 3)).toEqual([403, 403, 403])
      expect((await appToken(client)).status).toBe(200)
    })
  },
)

onEachStore('validation', { config: { oauthRates: { address: 0, client: 0, validation: 5 } } }, server => {
  test('429 is counted by the client of the token', async () => {
    const { client, other_client } = server().world
    const statuses: number[] = []
    for (let n = 0; n < 10; n++) statuses.push((await validate(server(), client.app_token)).status)
    expect([statuses[0], statuses.at(-1)]).toEqual([200, 429])
    const refused = await validate(server(), client.app_token)
    expect(refused.body.status).toBe(429)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
    expect((await validate(server(), other_client.app_token)).status).toBe(200)
  })
})

describe('the limits of the OAuth side', () => {
  const RATES = { address: 10, client: 10, validation: 10 }
  const clocked = (rates = RATES) => {
    let now = 0
    const limits = new OAuthLimits(rates, () => now)
    const allows = (take: (limits: OAuthLimits) => void): boolean => {
      try {
        take(limits)
        return true
      } catch (error) {
        if (error instanceof Problem && error.status === 429) return false
        throw error
      }
    }
    return {
      allows,
      pass: (milliseconds: number) => {
        now += milliseconds
      },
    }
  }
  const poll = (limits: OAuthLimits) => limits.takeForPoll('a device')

  test('a device that asks every second for half an hour is always answered', () => {
    const { allows, pass } = clocked()
    for (let second = 0; second < 1800; second++) {
      expect(allows(poll)).toBe(true)
      pass(1000)
    }
  })

  test('a device that asks ten times a second is answered slow_down, and served again once it slows down', () => {
    const { allows, pass } = clocked()
    const answered: boolean[] = []
    for (let n = 0; n < 600; n++) {
      answered.push(allows(poll))
      pass(100)
    }
    expect(answered.slice(0, 120)).not.toContain(false)
    expect(answered.slice(-100).filter(Boolean).length).toBeLessThan(30)
    pass(5000)
    for (let n = 0; n < 10; n++) {
      expect(allows(poll)).toBe(true)
      pass(1000)
    }
  })

  test('0 switches a limit off, and not that of a device', () => {
    const { allows } = clocked({ address: 0, client: 0, validation: 0 })
    for (let n = 0; n < 1000; n++) {
      expect(allows(limits => limits.takeFromAddress('192.0.2.1'))).toBe(true)
      expect(allows(limits => limits.takeFromClient('c', { proved: true }))).toBe(true)
      expect(allows(limits => limits.takeForValidation('c', () => '192.0.2.1'))).toBe(true)
    }
    const polled = Array.from({ length: 1000 }, () => allows(poll))
    expect(polled.filter(Boolean)).toHaveLength(120)
  })

  test('an IPv6 network is one address, and a site with many networks has ten times as much', () => {
    const { allows } = clocked()
    const ask = (address: string) => allows(limits => limits.takeFromAddress(address))
    const inNetwork = Array.from({ length: 20 }, (_, n) => ask(`2001:db8:1:1::${n + 1}`))
    expect(inNetwork.filter(Boolean)).toHaveLength(10)
    const inSite = Array.from({ length: 500 }, (_, n) => ask(`2001:db8:1:${(n + 2).toString(16)}::1`))
    expect(inSite.filter(Boolean).length).toBeLessThanOrEqual(100)
    expect(ask('2001:db8:2:1::1')).toBe(true)
  })
})
