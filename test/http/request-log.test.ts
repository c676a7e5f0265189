/** What the log has about requests: the access log and trace ids. */
import { describe, expect, test } from 'bun:test'
import { readTraceId } from '../../src/http/trace-context.ts'
import { onEachStore } from '../support/server/each-store.ts'

type Line = Readonly<Record<string, unknown>>
const parsed = (lines: readonly string[]): Line[] => lines.map(line => JSON.parse(line))

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const PARENT = `00-${TRACE}-00f067aa0ba902b7-01`

describe('traceparent', () => {
  test('gives its trace id if it is well formed, and nothing otherwise', () => {
    const of = (value: string) => readTraceId(new Headers({ traceparent: value }))
    expect(of(PARENT)).toBe(TRACE)
    expect(of(PARENT.replace(/01$/, '00'))).toBe(TRACE)
    expect(readTraceId(new Headers())).toBeUndefined()
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
