/** The typed client against a real server on both stores. */
import { describe, expect, test } from 'bun:test'
import { createClient, StrandError } from '../../src/client/index.ts'
import { onEachStore } from '../support/server/each-store.ts'

onEachStore('the typed client', { streams: 12 }, (server, engine) => {
  const client = (more: object = {}) => {
    const { world, url } = server()
    return createClient({
      baseUrl: url,
      token: world.broadcaster.token,
      operatorToken: world.operator_token,
      ...more,
    })
  }

  test('gives the answer of an operation as it was declared', async () => {
    const { data } = await client().helix.getStreams({ user_id: [server().world.broadcaster.id] })
    expect(data.map(stream => stream.user_login)).toEqual([server().world.broadcaster.login])
    expect(data[0]?.viewer_count).toBeNumber()
  })

  test('walks over all rows, and over all pages', async () => {
    const logins = new Set<string>()
    for await (const stream of client().helix.getStreams.each({ first: 5 })) logins.add(stream.user_login)
    expect(logins.size).toBe(12)
    const sizes: number[] = []
    for await (const page of client().helix.getStreams.pages({ first: 5 })) sizes.push(page.data.length)
    expect(sizes).toEqual([5, 5, 2])
  })

  test('walks backwards where it was given the cursor to end in front of', async () => {
    const { getStreams } = client().helix
    const first = await getStreams({ first: 8 })
    const ninth = await getStreams({ first: 1, after: first.pagination.cursor })
    const back: string[] = []
    const walk = getStreams.pages({ first: 4, before: ninth.pagination.cursor ?? '' })
    for await (const page of walk) back.unshift(...page.data.map(stream => stream.id))
    expect(back).toEqual(first.data.map(stream => stream.id))
  })

  test('gives the one thing of an answer that has one', async () => {
    const user = await client().control.createUser.one({ login: 'made_by_client' })
    expect(await client().control.getUser.one({ user_id: user.id })).toEqual(user)
    const found = await client().control.listUsers({ login: 'made_by_client' })
    expect(found.data).toEqual([user])
    const { data: report } = await client().control.deleteUser({ user_id: user.id })
    expect(report).toContainEqual({ data: 'users', result: 'removed', rows: 1, reason: '' })
    const game = await client().control.createGame.one({ name: 'Made by a client' })
    expect(await client().control.deleteGame({ game_id: game.id })).toBeUndefined()
  })

  test('gives a file as its text, and a failure as any other', async () => {
    const { helix } = client()
    const { data } = await helix.getStreamMarkers({ user_id: server().world.broadcaster.id })
    const video_id = data[0]?.videos[0]?.video_id ?? ''
    expect(await helix.exportStreamMarkers({ video_id, format: 'vtt' })).toStartWith('WEBVTT\n\n')
    expect(await client().control.exportVideoMarkers({ video_id, format: 'json' })).toStartWith('{\n')
    const refused = helix.exportStreamMarkers({ video_id: '999', format: 'vtt' })
    expect(await refused.catch(error => [error instanceof StrandError, error.status])).toEqual([true, 404])
  })

  test('names the server that cannot be reached, and a base URL that may be wrong', async () => {
    const result = async (baseUrl: string) => {
      const { message } = await client({ baseUrl, retries: 0 })
        .control.listUsers()
        .catch(error => error)
      expect(message).not.toContain(server().world.operator_token)
      return message
    }
    expect(await result('http://user:secret@localhost:1/')).toBe(
      'ListUsers got no answer: http://localhost:1 cannot be reached (ECONNREFUSED)',
    )
    expect(await result(`${server().url}/foo/`)).toBe(
      `There is no such operation at this path with this method. Is ${server().url}/foo/ the right base URL?`,
    )
    const slow = client({ fetch: () => Promise.reject(new Error('cut off')), retries: 0 }).helix.getStreams()
    await expect(slow).rejects.toThrow(`GetStreams got no answer: ${new URL(server().url).origin}: cut off`)
  })

  test('throws what the server answers, with status, reason and operation', async () => {
    const failed = await client()
      .control.getUser({ user_id: '1' })
      .catch(error => error)
    expect(failed).toBeInstanceOf(StrandError)
    const { status, error, message, operation, requestId } = failed as StrandError
    expect([status, error, message, operation]).toEqual([
      404,
      'Not Found',
      'There is no user with the id "1".',
      'GetUser',
    ])
    expect(requestId).toMatch(/^[0-9a-f-]{36}$/)
  })

  test('the operator token goes to the operator alone, and tokens of open calls nowhere', async () => {
    const sent: [string, string | null][] = []
    const { world } = server()
    const watching = client({
      fetch: (url: string, init: RequestInit) => {
        sent.push([new URL(url).pathname, new Headers(init.headers).get('authorization')])
        return fetch(url, init)
      },
    })
    await watching.helix.getStreams()
    await watching.oauth.validateToken()
    await watching.oauth.createToken({
      grant_type: 'client_credentials',
      client_id: world.client.id,
      client_secret: world.client.secret,
    })
    await watching.control.listUsers()
    expect(sent).toEqual([
      ['/helix/streams', `Bearer ${world.broadcaster.token}`],
      ['/oauth2/validate', `Bearer ${world.broadcaster.token}`],
      ['/oauth2/token', null],
      ['/control/users', `Bearer ${world.operator_token}`],
    ])
  })

  test('a token can be requested with each call', async () => {
    let asked = 0
    const token = async () => {
      asked += 1
      return server().world.viewer.token
    }
    const { user_id } = await client({ token }).oauth.validateToken()
    await client({ token }).helix.getFollowedStreams({ user_id: user_id ?? '' })
    expect(asked).toBe(2)
  })

  // The store has no part in repeating, and the pauses take seconds.
  if (engine === 'sqlite')
    describe('repeats', () => {
      /** Directly: the control API plans no faults for its operations. */
      const plan = (operation: string, outcome: 'unavailable' | 'rate_limited' | 'slow', times: number) =>
        server().strand.services.demo?.faults.plan({ operation, outcome, times })

      /** A client that counts its attempts. */
      function counting(more: object = {}) {
        let attempts = 0
        const counted = client({
          fetch: (url: string, init: RequestInit) => {
            attempts += 1
            return fetch(url, init)
          },
          ...more,
        })
        return { counted, attempts: () => attempts }
      }

      test('a read after 503', async () => {
        plan('GetStreams', 'unavailable', 2)
        const { counted, attempts } = counting()
        expect((await counted.helix.getStreams({ first: 1 })).data).toHaveLength(1)
        expect(attempts()).toBe(3)
      })

      test('at most as often as it may', async () => {
        plan('GetStreams', 'unavailable', 2)
        const { counted, attempts } = counting({ retries: 1 })
        await expect(counted.helix.getStreams()).rejects.toMatchObject({ status: 503 })
        expect(attempts()).toBe(2)
        await client().control.clearFaults()
      })

      test('any call after 429, when Retry-After has passed', async () => {
        plan('UpdateDropsEntitlements', 'rate_limited', 1)
        const { counted, attempts } = counting({ token: server().world.client.app_token })
        const { data } = await counted.helix.updateDropsEntitlements({
          entitlement_ids: ['not-an-id'],
          fulfillment_status: 'FULFILLED',
        })
        expect(data).toEqual([{ status: 'INVALID_ID', ids: ['not-an-id'] }])
        expect(attempts()).toBe(2)
      })

      test('nothing, if it would have to wait for longer than it may', async () => {
        plan('GetStreams', 'unavailable', 1)
        const { counted, attempts } = counting({ longestWaitSeconds: 0.5 })
        await expect(counted.helix.getStreams()).rejects.toMatchObject({ status: 503 })
        expect(attempts()).toBe(1)
      })

      test('no write whose outcome is unknown', async () => {
        plan('CreateUser', 'unavailable', 1)
        const { counted, attempts } = counting()
        await expect(counted.control.createUser({ login: 'only_once' })).rejects.toMatchObject({
          status: 503,
        })
        expect(attempts()).toBe(1)
      })

      test('a PUT, and a write that the caller declares safe', async () => {
        plan('PutUser', 'unavailable', 1)
        await client().control.putUser({ user_id: '777001', login: 'put_twice' })
        plan('GrantEntitlements', 'unavailable', 1)
        const grant = {
          user_id: '777001',
          benefit_id: server().world.benefit.id,
          game_id: server().world.game.id,
        }
        const id = '0b6bb7c5-3b0d-4d3e-8f93-0d8cf3d4a111'
        const granted = await client().control.grantEntitlements(
          { grants: [{ ...grant, id }] },
          { repeatable: true },
        )
        expect(granted.data.map(each => each.id)).toEqual([id])
      })

      test('a marker whose first answer was lost, and it is set once', async () => {
        const { broadcaster } = server().world
        let attempts = 0
        const lossy = client({
          fetch: async (url: string, init: RequestInit) => {
            const answer = await fetch(url, init)
            attempts += 1
            if (attempts === 1) throw new TypeError('the connection broke')
            return answer
          },
        })
        const marker = await lossy.helix.createStreamMarker.one({
          user_id: broadcaster.id,
          description: 'lost',
        })
        expect(attempts).toBe(2)
        const ids: string[] = []
        for await (const { videos } of client().helix.getStreamMarkers.each({ user_id: broadcaster.id }))
          for (const video of videos)
            ids.push(...video.markers.filter(m => m.description === 'lost').map(m => m.id))
        expect(ids).toEqual([marker.id])
      })

      test('a read whose connection broke, but no write', async () => {
        let attempts = 0
        const broken = client({
          fetch: async () => {
            attempts += 1
            throw new TypeError('the connection broke')
          },
          retries: 2,
        })
        await expect(broken.control.createUser({ login: 'x' })).rejects.toMatchObject({
          status: 0,
          operation: 'CreateUser',
        })
        expect(attempts).toBe(1)
        await expect(broken.helix.getStreams()).rejects.toMatchObject({ status: 0, error: 'No Answer' })
        expect(attempts).toBe(4)
      })

      test('not once the caller has had enough', async () => {
        plan('GetStreams', 'unavailable', 9)
        const abort = new AbortController()
        const { counted, attempts } = counting({ retries: 9 })
        const asked = counted.helix.getStreams({}, { signal: abort.signal })
        while (attempts() === 0) await Bun.sleep(1)
        abort.abort(new Error('enough'))
        await expect(asked).rejects.toThrow('enough')
        expect(attempts()).toBe(1)
        await client().control.clearFaults()
      })
    })

  test('a slow answer is given up after the timeout', async () => {
    server().strand.services.demo?.faults.plan({ operation: 'ListGames', outcome: 'slow' })
    const hasty = client({ timeoutSeconds: 0.2, retries: 0 })
    await expect(hasty.control.listGames()).rejects.toMatchObject({ status: 0, operation: 'ListGames' })
  })

  test('what is misspelt, missing or would lead elsewhere is not sent', async () => {
    const { control } = client()
    const wrong = { logn: 'x' } as unknown as { login: string }
    await expect(control.createUser(wrong)).rejects.toThrow('CreateUser takes no "logn"')
    await expect(control.deleteUser({ user_id: '..' })).rejects.toThrow('DeleteUser needs "user_id"')
    await expect(control.deleteUser({ user_id: '' })).rejects.toThrow('DeleteUser needs "user_id"')
    await expect(control.getUser({ user_id: 'a/b' })).rejects.toMatchObject({ status: 404 })
  })
})
