/** What the client does when tokens end, answers are lost and the server is busy, and what it shows of it. */
import { describe, expect, test } from 'bun:test'
import {
  type ClientOptions,
  createClient,
  type RequestEvent,
  type ResponseEvent,
  type RetryEvent,
  StrandError,
} from '../../src/client/index.ts'
import { onEachStore } from '../support/server/each-store.ts'

onEachStore('the typed client', { streams: 12 }, server => {
  const client = (more: Partial<ClientOptions> = {}) => {
    const { world, url } = server()
    return createClient({
      baseUrl: url,
      token: world.client.app_token,
      operatorToken: world.operator_token,
      ...more,
    })
  }
  const freshToken = async () => {
    const { client: owner, viewer } = server().world
    const input = { client_id: owner.id, user_id: viewer.id, scopes: ['user:read:follows'] as const }
    return (await client().control.issueToken.one(input)).access_token
  }
  const revoke = (token: string) => client().oauth.revokeToken({ client_id: server().world.client.id, token })

  describe('401', () => {
    test('the token is asked for again, once, and a walk continues where it was', async () => {
      let token = await freshToken()
      const asked: (string | undefined)[] = []
      const walking = client({
        token: async rejected => {
          asked.push(rejected)
          if (rejected !== undefined) token = await freshToken()
          return token
        },
      })
      const first = token
      const seen: string[] = []
      for await (const { id } of walking.helix.getStreams.each({ first: 5 })) {
        seen.push(id)
        if (seen.length === 5) await revoke(first)
      }
      expect(new Set(seen).size).toBe(12)
      expect(seen).toHaveLength(12)
      expect(asked).toEqual([undefined, undefined, first, undefined])
    })

    test('calls whose token ended at the same time share one renewal', async () => {
      const first = await freshToken()
      await revoke(first)
      let current = first
      let renewals = 0
      const many = client({
        token: async rejected => {
          if (rejected === undefined) return current
          renewals += 1
          current = await freshToken()
          return current
        },
      })
      await Promise.all(Array.from({ length: 8 }, () => many.helix.getStreams({ first: 1 })))
      expect(renewals).toBe(1)
    })

    test('a second rejection fails, and so do the same token again, a fixed token and a missing scope', async () => {
      const failing = async (token: ClientOptions['token'], attempts: number) => {
        let sent = 0
        const asking = client({ token, onRequest: () => void sent++ })
        const error = await asking.helix.getStreams().catch(error => error)
        expect([error.status, error.code, sent]).toEqual([401, 'token_invalid', attempts])
      }
      let number = 0
      await failing(() => `wrong-${number++}`, 2)
      await failing(() => 'wrong', 1)
      await failing('wrong', 1)
      const { broadcaster } = server().world
      let asked = 0
      const token = await freshToken()
      const narrow = client({ token: () => (asked++ === 0 ? token : broadcaster.token) })
      const refused = narrow.helix.getStreamKey({ broadcaster_id: broadcaster.id })
      await expect(refused).rejects.toMatchObject({ status: 401, code: 'scope_missing' })
      expect(asked).toBe(1)
    })

    test('an operator token and the token of one call are renewed as well', async () => {
      const { world } = server()
      const renewed = (good: string) => (rejected?: string) => (rejected === undefined ? 'wrong' : good)
      const { control, helix } = client({ operatorToken: renewed(world.operator_token) })
      expect((await control.listUsers({ first: 1 })).data).toHaveLength(1)
      const { data } = await helix.getUsers({}, { token: renewed(world.viewer.token) })
      expect(data[0]?.id).toBe(world.viewer.id)
    })
  })

  describe('updates of entitlements', () => {
    const grant = async (count: number) => {
      const { viewer, benefit, game } = server().world
      const grants = Array(count).fill({ user_id: viewer.id, benefit_id: benefit.id, game_id: game.id })
      return (await client().control.grantEntitlements({ grants })).data.map(({ id }) => id)
    }

    test('are repeated after a lost answer without being asked to', async () => {
      let attempts = 0
      const lossy = client({
        fetch: async (url, init) => {
          const response = await fetch(url, init)
          if (attempts++ === 0) throw new TypeError('the connection broke')
          return response
        },
      })
      const ids = await grant(2)
      const { data } = await lossy.helix.updateDropsEntitlements({
        entitlement_ids: ids,
        fulfillment_status: 'FULFILLED',
      })
      expect(data).toEqual([{ status: 'SUCCESS', ids }])
      expect(attempts).toBe(2)
    })

    test('of more than 100 ids are sent 100 at a time and merged by status', async () => {
      const ids = await grant(230)
      const sizes: number[] = []
      const counting = client({
        fetch: (url, init) => {
          sizes.push((JSON.parse(String(init.body)) as { entitlement_ids: string[] }).entitlement_ids.length)
          return fetch(url, init)
        },
      })
      const { data } = await counting.helix.updateDropsEntitlements.all({
        entitlement_ids: ['not-an-id', ...ids, 'nor-this-one', 'not-an-id'],
        fulfillment_status: 'FULFILLED',
      })
      expect(sizes).toEqual([100, 100, 32])
      expect(data.map(({ status }) => status)).toEqual(['SUCCESS', 'INVALID_ID'])
      expect(data[0]?.ids.toSorted()).toEqual(ids.toSorted())
      expect(data[1]?.ids.toSorted()).toEqual(['nor-this-one', 'not-an-id'])
      const none = { entitlement_ids: [], fulfillment_status: 'FULFILLED' } as const
      expect(await counting.helix.updateDropsEntitlements.all(none)).toEqual({ data: [] })
      expect(sizes).toHaveLength(3)
    })
  })

  test('results have status, headers and rate, and are otherwise the body', async () => {
    const streams = await client().helix.getStreams({ first: 1 })
    expect(Object.keys(streams)).toEqual(['data', 'pagination'])
    expect(streams.response.status).toBe(200)
    expect(streams.response.headers.get('content-type')).toStartWith('application/json')
    expect(streams.response.requestId).toMatch(/^[0-9a-f-]{36}$/)
    const { limit, remaining, reset } = streams.response.rate ?? {}
    expect([typeof limit, typeof remaining, reset instanceof Date]).toEqual(['number', 'number', true])
    expect((await client().control.listUsers({ first: 1 })).response.rate).toBeUndefined()
    for await (const page of client().helix.getStreams.pages({ first: 12 }))
      expect(page.response.rate?.limit).toBe(limit)
  })

  test('errors have code, headers and rate', async () => {
    const error = await client({ token: 'wrong' })
      .helix.getStreams()
      .catch(error => error)
    expect(error).toBeInstanceOf(StrandError)
    expect([error.code, error.headers.get('www-authenticate'), typeof error.rate?.remaining]).toEqual([
      'token_invalid',
      'OAuth realm="Strand", error="invalid_token"',
      'number',
    ])
    const lost = await client({ fetch: () => Promise.reject(new Error('cut off')), retries: 0 })
      .helix.getStreams()
      .catch(error => error)
    expect([lost.status, lost.code, lost.headers]).toEqual([0, undefined, undefined])
  })

  test('hooks see requests, responses and retries, and may add headers', async () => {
    const requests: RequestEvent[] = []
    const responses: ResponseEvent[] = []
    const retries: RetryEvent[] = []
    let number = 0
    const watched = client({
      onRequest: event => {
        event.headers.set('traceparent', '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01')
        requests.push(event)
      },
      onResponse: event => responses.push(event),
      onRetry: event => retries.push(event),
      fetch: async (url, init) => {
        expect(new Headers(init.headers).get('traceparent')).toStartWith('00-')
        return number++ === 0 ? new Response('{"data": [', { status: 200 }) : fetch(url, init)
      },
    })
    await watched.helix.getStreams({ first: 1 })
    expect(requests.map(({ operation, method, attempt }) => [operation, method, attempt])).toEqual([
      ['GetStreams', 'GET', 1],
      ['GetStreams', 'GET', 2],
    ])
    expect(responses.map(({ status, attempt }) => [status, attempt])).toEqual([
      [200, 1],
      [200, 2],
    ])
    expect(responses[1]?.milliseconds).toBeGreaterThan(0)
    expect(retries.map(({ attempt, error }) => [attempt, error.error])).toEqual([[1, 'Bad Answer']])
    const stopped = client({ onRequest: () => Promise.reject(new Error('not now')) }).helix.getStreams()
    await expect(stopped).rejects.toThrow('not now')
  })
})

describe('the wait after a busy answer', () => {
  /** The wait before the second attempt, without waiting for it. */
  async function waitAfter(status: number, headers: Record<string, string>, more: object = {}) {
    const abort = new AbortController()
    let waited: number | undefined
    const { helix } = createClient({
      baseUrl: 'http://localhost:1',
      longestWaitSeconds: 1000,
      fetch: async () => new Response('{}', { status, headers }),
      onRetry: ({ waitSeconds }) => {
        waited = waitSeconds
        abort.abort(new Error('seen'))
      },
      ...more,
    })
    await helix.getStreams({}, { signal: abort.signal }).catch(() => undefined)
    return waited
  }
  const date = 'Tue, 03 Mar 2009 10:00:00 GMT'
  const seconds = Date.parse(date) / 1000

  test('429: Retry-After comes first, in seconds or as a time by the clock of the server', async () => {
    expect(await waitAfter(429, { 'Retry-After': '7', 'Ratelimit-Reset': String(seconds + 90), date })).toBe(
      7,
    )
    expect(await waitAfter(429, { 'Retry-After': 'Tue, 03 Mar 2009 10:00:09 GMT', date })).toBe(9)
  })

  test('429: Ratelimit-Reset is compared with the Date of the response, not with this clock', async () => {
    expect(await waitAfter(429, { 'Ratelimit-Reset': String(seconds + 40), date })).toBe(40)
    expect(await waitAfter(429, { 'Ratelimit-Reset': String(seconds - 40), date })).toBe(1)
    expect(await waitAfter(429, { 'Ratelimit-Reset': String(Date.now() / 1000 + 900) })).toBeLessThanOrEqual(
      1,
    )
  })

  test('429 is final where waiting changes nothing; 500, 502, 503 and 504 are retried, 501 is not', async () => {
    expect(
      await waitAfter(429, { 'Strand-Error': 'too_many_subscriptions', 'Retry-After': '1' }),
    ).toBeUndefined()
    for (const status of [500, 502, 503, 504]) expect(await waitAfter(status, {})).toBeLessThan(1)
    expect(await waitAfter(501, {})).toBeUndefined()
    expect(await waitAfter(429, { 'Retry-After': '7' }, { longestWaitSeconds: 5 })).toBeUndefined()
  })
})

describe('options', () => {
  const refused = (options: unknown) => {
    try {
      createClient(options as ClientOptions)
    } catch (error) {
      return [error instanceof TypeError, (error as Error).message]
    }
    return undefined
  }
  const baseUrl = 'http://localhost:1'
  const all =
    'baseUrl, token, clientId, operatorToken, operatorUrl, retries, longestWaitSeconds, timeoutSeconds, fetch, onRequest, onResponse, onRetry'

  test.each([
    [{}, 'baseUrl is required; it must be an http or https URL such as "http://localhost:8080"'],
    [undefined, 'the options must be an object, not a value of type undefined'],
    [
      { baseUrl: 'localhost:8080' },
      'baseUrl must be an http or https URL such as "http://localhost:8080", not "localhost:8080"',
    ],
    [{ baseUrl, tokn: 'a' }, `unknown option "tokn"; must be one of ${all}`],
    [{ baseUrl, token: 7 }, 'token must be a token, or a function that returns one, not 7'],
    [
      { baseUrl, token: '' },
      'token must be a token, or a function that returns one, not a value of type string',
    ],
    [{ baseUrl, retries: -1 }, 'retries must be an integer of at least 0, not -1'],
    [{ baseUrl, retries: '3' }, 'retries must be an integer of at least 0, not "3"'],
    [{ baseUrl, timeoutSeconds: 0 }, 'timeoutSeconds must be a number of seconds above 0, not 0'],
    [{ baseUrl, fetch: 'fetch' }, 'fetch must be a function, not "fetch"'],
  ])('%j is refused in a sentence', (options, message) => {
    expect(refused(options)).toEqual([true, `createClient: ${message}`])
  })

  test('undefined is the same as absent', () => {
    expect(refused({ baseUrl, token: undefined, retries: undefined, onRetry: undefined })).toBeUndefined()
  })

  test('those of a call are checked as well, and nothing is sent', async () => {
    const { helix } = createClient({ baseUrl, fetch: () => Promise.reject(new Error('sent')) })
    await expect(helix.getStreams({}, { singal: 1 } as object)).rejects.toThrow(
      'GetStreams: unknown option "singal"; must be one of signal, token, idempotencyKey, repeatable',
    )
    await expect(helix.getStreams({}, { signal: 1 } as object)).rejects.toThrow(
      'GetStreams: signal must be an AbortSignal, not 1',
    )
  })
})
