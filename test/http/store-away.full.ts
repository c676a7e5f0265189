/** What the log has about requests while the store is away: few lines for many failures. */
import { describe, expect, test } from 'bun:test'
import { Cable } from '../support/proxies/cable.ts'
import { createStorePlace, engines, startTestServer } from '../support/server.ts'

type Line = Readonly<Record<string, unknown>>
const parsed = (lines: readonly string[]): Line[] => lines.map(line => JSON.parse(line))

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const PARENT = `00-${TRACE}-00f067aa0ba902b7-01`

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
  })
})
