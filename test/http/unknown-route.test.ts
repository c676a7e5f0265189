/** What a path without an operation answers: D-100 to D-102. */
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { HELIX_OPERATIONS, REMOVED_OPERATIONS } from '../../src/contract/helix-reference.ts'
import { helixOperations } from '../../src/contract/index.ts'
import type { Method } from '../../src/contract/operation.ts'
import { explainUnknownRoute } from '../../src/http/endpoint/unknown-route.ts'
import { runs } from '../support/properties.ts'
import { onEachStore } from '../support/server/each-store.ts'
import type { Answer } from '../support/server.ts'

const METHODS: readonly Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']
const keyOf = ({ method, path }: { method: string; path: string }) => `${method} ${path}`
const offered = new Set(Object.values(helixOperations).map(each => keyOf(each).replace('/helix', '')))
const notOffered = HELIX_OPERATIONS.filter(each => !offered.has(keyOf(each)))
const isOffered = (path: string) => METHODS.some(method => offered.has(`${method} ${path}`))
const bodyOf = ({ status, body }: Answer) => [status, body]
const notFound = (message: string) => [404, { error: 'Not Found', status: 404, message }]

describe('the list of Helix operations', () => {
  test('has 142 of the reference and the five that came later, each once', () => {
    expect(HELIX_OPERATIONS.length).toBe(147)
    const later = ['GET', 'PUT', 'PATCH', 'DELETE'].map(method => `${method} /chat/pins`)
    const keys = HELIX_OPERATIONS.map(keyOf)
    expect(keys).toContainValues([...later, 'GET /bits/custom_power_ups'])
    expect(new Set(keys).size).toBe(keys.length)
    expect(new Set(HELIX_OPERATIONS.map(each => each.name)).size).toBe(keys.length)
  })

  test('has every operation that is offered, under the same name', () => {
    const names = new Map(HELIX_OPERATIONS.map(each => [keyOf(each), each.name.replaceAll(/[ -]/g, '')]))
    for (const { id, method, path } of Object.values(helixOperations)) {
      // The only operation that Helix does not have.
      if (id === 'ExportStreamMarkers') continue
      expect(names.get(keyOf({ method, path: path.replace('/helix', '') }))).toBe(id)
    }
  })

  test('has the paths that Helix removed, none of which is offered', () => {
    expect(REMOVED_OPERATIONS.map(keyOf)).toEqual([
      'GET /users/follows',
      'POST /users/follows',
      'DELETE /users/follows',
      'GET /tags/streams',
      'GET /streams/tags',
      'POST /streams/tags',
      'PUT /streams/tags',
      'GET /soundtrack/current_track',
      'GET /soundtrack/playlist',
      'GET /soundtrack/playlists',
      'GET /hypetrain/events',
      'GET /webhooks/subscriptions',
      'POST /webhooks/hub',
      'GET /entitlements/codes',
      'POST /entitlements/codes',
      'POST /entitlements/code',
      'POST /entitlements/upload',
      'GET /subscriptions/events',
      'GET /moderation/banned/events',
      'GET /moderation/moderators/events',
    ])
    const known = new Set(HELIX_OPERATIONS.map(keyOf))
    for (const each of REMOVED_OPERATIONS) {
      expect([keyOf(each), offered.has(keyOf(each)), known.has(keyOf(each))]).toEqual([
        keyOf(each),
        false,
        false,
      ])
      for (const [, named = ''] of each.advice.matchAll(/([A-Z]+ \/\S+\b)/g)) expect(known).toContain(named)
    }
  })
})

onEachStore('a path without an operation', {}, server => {
  test('404 every operation of Helix that is not offered, by name, under both prefixes', async () => {
    expect(notOffered.length).toBeGreaterThan(100)
    for (const { method, path, name } of notOffered) {
      for (const prefix of ['/helix', '/mock']) {
        expect(bodyOf(await server().call({ method, path: prefix + path }))).toEqual(
          notFound(
            `${name} (${method} ${prefix}${path}) is not offered by this server; see /docs for the operations that are.`,
          ),
        )
      }
    }
  })

  test('404 another method on a path of which nothing is offered names its operations', async () => {
    expect(bodyOf(await server().call({ method: 'PUT', path: '/helix/clips' }))).toEqual(
      notFound(
        'Get Clips (GET /helix/clips) and Create Clip (POST /helix/clips) are not offered by this server; see /docs for the operations that are.',
      ),
    )
    expect(bodyOf(await server().call({ path: '/mock/chat/messages' }))).toEqual(
      notFound(
        'Send Chat Message (POST /mock/chat/messages) is not offered by this server; see /docs for the operations that are.',
      ),
    )
    for (const path of new Set(notOffered.map(each => each.path))) {
      if (isOffered(path)) continue
      const names = notOffered.filter(each => each.path === path).map(each => each.name)
      for (const method of METHODS) {
        const answer = await server().call({ method, path: `/helix${path}` })
        expect(answer.status).toBe(
          REMOVED_OPERATIONS.some(each => keyOf(each) === `${method} ${path}`) ? 410 : 404,
        )
        if (answer.status === 404) expect(names.some(name => answer.body.message.includes(name))).toBe(true)
      }
    }
  })

  test('410 every removed operation, with what to use instead', async () => {
    for (const { method, path, name, advice } of REMOVED_OPERATIONS) {
      for (const prefix of ['/helix', '/mock']) {
        expect(bodyOf(await server().call({ method, path: prefix + path }))).toEqual([
          410,
          { error: 'Gone', status: 410, message: `${name} was removed from Helix; ${advice}.` },
        ])
      }
    }
    const follows = await server().call({ path: '/helix/users/follows' })
    expect(follows.body.message).toBe(
      'Get Users Follows was removed from Helix; use GET /channels/followers or GET /channels/followed.',
    )
    expect(follows.headers.get('cache-control')).toBe('no-store')
  })

  test('404 another method on a removed path', async () => {
    const gone = new Set(REMOVED_OPERATIONS.map(keyOf))
    for (const path of new Set(REMOVED_OPERATIONS.map(each => each.path))) {
      for (const method of METHODS) {
        if (gone.has(`${method} ${path}`)) continue
        expect((await server().call({ method, path: `/helix${path}` })).status).toBe(404)
      }
    }
  })

  test('404 a wrong method on an offered path names the methods that it supports', async () => {
    expect(bodyOf(await server().call({ method: 'DELETE', path: '/helix/streams/markers' }))).toEqual(
      notFound('DELETE /helix/streams/markers does not exist; /helix/streams/markers supports GET and POST.'),
    )
    expect(bodyOf(await server().call({ method: 'POST', path: '/mock/streams/key' }))).toEqual(
      notFound('POST /mock/streams/key does not exist; /mock/streams/key supports GET.'),
    )
  })

  test('404 under the alias of subscriptions only paths of subscriptions are explained', async () => {
    const messageAt = async (method: Method, path: string) => {
      const { status, body } = await server().call({ method, path })
      return [status, body.message]
    }
    const plain = (await messageAt('GET', '/helix/nothing/like/it'))[1]
    for (const path of ['/eventsub/streams', '/eventsub/users/follows', '/eventsub/subscriptions/events'])
      expect([path, await messageAt('GET', path)]).toEqual([path, [404, plain]])
    expect(await messageAt('POST', '/eventsub/channels')).toEqual([404, plain])
    expect(await messageAt('PUT', '/eventsub/subscriptions')).toEqual([
      404,
      'PUT /eventsub/subscriptions does not exist; /eventsub/subscriptions supports GET, POST and DELETE.',
    ])
    expect((await messageAt('GET', '/eventsub/subscription'))[1]).toContain('/eventsub/subscriptions')
    expect((await messageAt('GET', '/eventsub/conduits'))[1]).toStartWith(
      'Get Conduits (GET /eventsub/conduits) is not offered',
    )
  })

  test('404 a path close to an offered one names that one', async () => {
    for (const [path, meant] of [
      ['/helix/stream', '/helix/streams'],
      ['/helix/streams/', '/helix/streams'],
      ['/helix//streams', '/helix/streams'],
      ['/helix/Streams', '/helix/streams'],
      ['/mock/stream/markers', '/mock/streams/markers'],
      ['/mock/entitlement/drop', '/mock/entitlements/drops'],
    ] as const) {
      expect(bodyOf(await server().call({ path }))).toEqual(
        notFound(`There is no GET ${path}; did you mean ${meant}?`),
      )
    }
  })

  test('404 every offered path with a letter too few names an offered one', async () => {
    for (const path of new Set(Object.values(helixOperations).map(each => each.path))) {
      const misspelled = path.slice(0, -1)
      const { status, body } = await server().call({ path: misspelled })
      expect(status).toBe(404)
      const [, meant = ''] = /^There is no GET \S+; did you mean \/helix(\S+)\?$/.exec(body.message) ?? []
      expect([misspelled, isOffered(meant)]).toEqual([misspelled, true])
    }
  })

  test('404 the path that one library misspells', async () => {
    const { body } = await server().call({ path: '/helix/channel/editors' })
    expect(body.message).toBe(
      isOffered('/channels/editors')
        ? 'There is no GET /helix/channel/editors; did you mean /helix/channels/editors?'
        : 'There is no such operation at this path with this method.',
    )
  })

  test('404 a path close to nothing, or only to what is not offered, names none', async () => {
    const message = 'There is no such operation at this path with this method.'
    for (const path of ['/helix', '/helix/', '/helix/nothing', '/helix/clip', `/helix/${'x'.repeat(30_000)}`])
      expect(bodyOf(await server().call({ path }))).toEqual(notFound(message))
  })

  test('404 and 410 come before the token is judged, and with the rate headers', async () => {
    for (const path of ['/helix/clips', '/helix/users/follows', '/helix/stream', '/helix/nothing']) {
      for (const token of [undefined, 'rubbish', server().world.client.app_token]) {
        const { status, headers } = await server().call({ path, token })
        expect([404, 410]).toContain(status)
        expect(headers.get('www-authenticate')).toBeNull()
        expect(headers.get('content-type')).toBe('application/json')
        for (const name of ['limit', 'remaining', 'reset'])
          expect(headers.get(`ratelimit-${name}`)).toMatch(/^[0-9]+$/)
      }
    }
  })

  test('property: 4xx for any path and method, never 5xx', async () => {
    const segment = fc.oneof(
      fc.constantFrom(...HELIX_OPERATIONS.flatMap(({ path }) => path.split('/').slice(1))),
      fc.webSegment(),
      fc.constantFrom('__proto__', 'constructor', 'toString', '%00', '%ff', '..%2f', 'ö'),
    )
    const request = fc.record({
      method: fc.constantFrom(...METHODS),
      prefix: fc.constantFrom('/helix/', '/mock/'),
      segments: fc.array(segment, { maxLength: 6 }),
    })
    await fc.assert(
      fc.asyncProperty(request, async ({ method, prefix, segments }) => {
        const { status, body } = await server().call({ method, path: prefix + segments.join('/') })
        if (status === 200 || status === 204) return
        expect(status).toBeWithin(400, 500)
        expect(Object.keys(body)).toEqual(['error', 'status', 'message'])
        expect(body.message.length).toBeLessThan(400)
      }),
      { numRuns: runs(300) },
    )
  })
})

test('an unknown path is explained at once, however long', () => {
  const longest = [`/helix/${'a'.repeat(30_000)}`, `/helix/${'moderation/'.repeat(5)}`, '/helix/channels/vip']
  const began = performance.now()
  for (let round = 0; round < 300; round++) for (const path of longest) explainUnknownRoute('GET', path)
  expect((performance.now() - began) / 900).toBeLessThan(1)
})
