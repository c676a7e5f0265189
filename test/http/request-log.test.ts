/** What the log says about requests: the access log, trace ids, and few lines while the store is away. */
import { describe, expect, test } from 'bun:test'
import { traceIdOf } from '../../src/http/trace-context.ts'
import { Cable } from '../support/cable.ts'
import { onEachStore } from '../support/each-store.ts'
import { createStorePlace, engines, startTestServer } from '../support/server.ts'

type Line = Readonly<Record<string, unknown>>
const parsed = (lines: readonly string[]): Line[] => lines.map(line => JSON.parse(line))

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const PARENT = `00-${TRACE}-00f067aa0ba902b7-01`

describe('traceparent', () => {
  test('gives its trace id if it is well formed, and nothing otherwise', () => {
    const of = (value: string) => traceIdOf(new Headers({ traceparent: value }))
    expect(of(PARENT)).toBe(TRACE)
    expect(of(PARENT.replace(/01$/, '00'))).toBe(TRACE)
    expect(traceIdOf(new Headers())).toBeUndefined()
    for (const wrong of [
      '',
      TRACE,
      PARENT.toUpperCase(),
      PARENT.replace('00-', '01-'),
      PARENT.replace('00-', 'ff-'),
      `${PARENT}-extra`,
      `${PARENT}, ${PARENT}`,
      PARENT.replace(TRACE, '0'.repeat(32)),
      PARENT.replace('00f067aa0ba902b7', '0'.repeat(16)),
      PARENT.replace(TRACE, TRACE.slice(1)),
      PARENT.replace('a', 'g'),
    ])
      expect([wrong, of(wrong)]).toEqual([wrong, undefined])
  })
})

onEachStore('the access log', { config: { accessLog: true, logLevel: 'info' } }, server => {
  const lineOf = (request_id: string) =>
    parsed(server().logLines).filter(line => line.request_id === request_id)

  test('200 has one line at level info, with what was asked and how it was answered', async () => {
    const { world, call } = server()
    const { token } = world.users.find(user => user.id === world.broadcaster.id) as { token: string }
    const asks = [
      [{ path: '/helix/streams' }, 'GetStreams', 'GET', 200, 'anonymous', undefined],
      [
        { path: '/helix/streams/key', query: { broadcaster_id: world.broadcaster.id }, token },
        'GetStreamKey',
        'GET',
        200,
        'user',
        undefined,
      ],
      [
        { path: '/helix/streams', query: { first: 'x' } },
        'GetStreams',
        'GET',
        400,
        'anonymous',
        'malformed_parameter',
      ],
      [
        { path: '/control/users', token: world.operator_token },
        'ListUsers',
        'GET',
        200,
        'operator',
        undefined,
      ],
      [{ path: '/healthz' }, 'other', 'GET', 200, undefined, undefined],
      [{ path: '/nowhere' }, 'unknown', 'GET', 404, undefined, 'route_unknown'],
    ] as const
    for (const [index, [ask, operation, method, status, client, problem]] of asks.entries()) {
      const request_id = `access-${index}`
      await call({ ...ask, headers: { 'X-Request-Id': request_id } }).catch(() => undefined)
      const [line, ...more] = lineOf(request_id)
      expect(more).toEqual([])
      expect(line).toEqual({
        level: 'info',
        time: expect.any(String),
        request_id,
        operation,
        method,
        status,
        ...(problem && { problem }),
        ms: expect.any(Number),
        ...(client && { client }),
        msg: 'answered',
      })
    }
  })

  test('200 with the trace id of a well-formed traceparent, and without that of another', async () => {
    const ask = (id: string, traceparent: string) =>
      server().call({ path: '/helix/streams', headers: { 'X-Request-Id': id, traceparent } })
    expect((await ask('traced', PARENT)).status).toBe(200)
    expect((await ask('untraced', `${PARENT}x`)).status).toBe(200)
    expect(lineOf('traced')).toMatchObject([{ trace_id: TRACE }])
    expect(lineOf('untraced')[0]).not.toHaveProperty('trace_id')
  })

  test('nothing of path, query and headers is in it', async () => {
    const { url, logLines } = server()
    await fetch(`${url}/made-up-path?made-up-name=made-up-value`, {
      headers: { 'User-Agent': 'made-up-agent', Authorization: 'Bearer made-up-token' },
    })
    expect(logLines.at(-1)).toContain('"operation":"unknown"')
    expect(logLines.join('\n')).not.toMatch(/made-?up/i)
  })
})

onEachStore('without the access log', { config: { logLevel: 'info' } }, server => {
  test('200 has no line', async () => {
    const before = server().logLines.length
    await server().call({ path: '/helix/streams' })
    expect(server().logLines.slice(before)).toEqual([])
  })
})

describe.skipIf(!engines.includes('postgres'))('while the store is away', () => {
  test('503 for all, in few lines that name requests, and one when it is back', async () => {
    const place = await createStorePlace('postgres')
    const url = new URL(place.databaseUrl ?? '')
    const cable = await Cable.to(url.hostname, Number(url.port))
    const databaseUrl = (place.databaseUrl ?? '').replace(url.host, `127.0.0.1:${cable.port}`)
    const server = await startTestServer('postgres', { config: { databaseUrl, logLevel: 'info' } })
    const warnings = () => parsed(server.logLines).filter(line => line.level === 'warn')
    cable.cut()
    let asked = 0
    const ask = () =>
      server.call({
        path: '/control/users',
        token: server.world.operator_token,
        headers: { 'X-Request-Id': `away-${++asked}`, traceparent: PARENT },
      })
    const began = performance.now()
    const isSummarized = () => warnings().some(line => String(line.msg).startsWith('the store is still'))
    while (!isSummarized() && performance.now() - began < 30_000) {
      const answers = await Promise.all(Array.from({ length: 20 }, ask))
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([503]))
    }
    cable.mend()
    const seconds = (performance.now() - began) / 1000
    const [first, ...further] = warnings().filter(line => String(line.msg).startsWith('the store is'))
    expect(first).toMatchObject({ msg: 'the store is unavailable', operation: 'ListUsers', trace_id: TRACE })
    expect(first?.request_id).toMatch(/^away-\d+$/)
    expect(further.length).toBeGreaterThan(0)
    expect(further.length).toBeLessThanOrEqual(1 + seconds / 5)
    for (const line of further) expect(line.request_id).toMatch(/^away-\d+$/)
    // The feed is read four times a second, and fails as often.
    const ofFeed = warnings().filter(line => line.msg === 'reading the feed failed')
    expect(ofFeed.length).toBeLessThanOrEqual(2 + seconds / 5)

    const deadline = performance.now() + 30_000
    const back = () => parsed(server.logLines).filter(line => line.msg === 'the store is available again')
    while (back().length === 0 && performance.now() < deadline) await Bun.sleep(50)
    expect(back()).toMatchObject([{ level: 'info', failed_requests: asked }])
    await server.stop()
    await cable.close()
    await place.remove()
  }, 90_000)
})
