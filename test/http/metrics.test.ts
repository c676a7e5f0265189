import { describe, expect, test } from 'bun:test'
import { operations } from '../../src/contract/index.ts'
import { Histogram } from '../../src/kit/telemetry/histogram.ts'
import { byWorker, exposition, Metrics } from '../../src/kit/telemetry/metrics.ts'
import { onEachStore } from '../support/server/each-store.ts'
import { type Scrape, scrape } from '../support/server/scrape.ts'
import type { TestServer } from '../support/server.ts'

/** A scrape shows one process: where several take turns behind one address, two scrapes cannot be compared. */
const ofOneProcess = test.skipIf(Number(process.env.TEST_NODES || 1) > 1)

const requests = (operation: string, status: number) =>
  `strand_http_requests_total{operation="${operation}",status="${status}"}`

/** How much series grew between two scrapes; those that did not are left out. */
function growth(before: Scrape, after: Scrape, prefix: string): Record<string, number> {
  const grown: Record<string, number> = {}
  for (const [name, value] of after.series) {
    const more = value - (before.series.get(name) ?? 0)
    if (name.startsWith(prefix) && more !== 0) grown[name] = more
  }
  return grown
}

async function times(count: number, work: (index: number) => Promise<unknown>): Promise<void> {
  for (let index = 0; index < count; index++) await work(index)
}

/** Requests of a caller who tries to make the metrics grow. */
async function beHostile(server: TestServer, mark: string): Promise<void> {
  const ask = (path: string, init: RequestInit = {}) =>
    fetch(`${server.url}${path}`, init).then(answer => answer.text())
  for (let n = 0; n < 10; n++) {
    const odd = `${mark}-${n}`
    await ask(`/${odd}`)
    await ask(`/helix/${odd}?${odd}=${odd}`)
    await ask(`/images/users/${odd}-10x10.png`)
    await ask(`/images/users/1-${odd}.png`)
    await ask(`/control/users/${odd}`, { method: 'DELETE' })
    await ask(`/helix/streams`, { method: `X${mark.toUpperCase()}${n}` })
    await ask(`/helix/streams?user_login=${odd}`, { headers: { Authorization: `Bearer ${odd}` } })
    await ask('/oauth2/token', {
      method: 'POST',
      body: new URLSearchParams({ grant_type: odd, client_id: odd }),
    })
    await ask('/helix/streams/key', { headers: { 'Client-Id': odd, 'X-Request-Id': odd, 'User-Agent': odd } })
  }
}

onEachStore('metrics', {}, server => {
  ofOneProcess('200 with exact counts by operation and status', async () => {
    const { url, world } = server()
    const before = await scrape(url)
    await times(7, () => server().call({ path: '/helix/streams' }))
    await times(3, () => server().call({ path: '/helix/streams', query: { first: 'x' } }))
    await times(2, () => server().call({ path: '/mock/streams', token: 'nonsense' }))
    await times(4, () => server().control('PUT', `/users/${world.viewer.id}/follows/${world.broadcaster.id}`))
    await server().call({ path: '/nowhere' })
    await server().call({ path: '/helix/nowhere' })
    await server().call({ path: '/healthz' })
    const after = await scrape(url)
    expect(growth(before, after, 'strand_http_requests_total')).toEqual({
      [requests('GetStreams', 200)]: 7,
      [requests('GetStreams', 400)]: 3,
      [requests('GetStreams', 401)]: 2,
      [requests('PutFollow', 204)]: 4,
      [requests('unknown', 404)]: 2,
      // The first scrape was not over when it was counted.
      [requests('other', 200)]: 2,
    })
    expect(growth(before, after, 'strand_http_problems_total')).toEqual({
      'strand_http_problems_total{problem="malformed_parameter"}': 3,
      'strand_http_problems_total{problem="token_invalid"}': 2,
      'strand_http_problems_total{problem="route_unknown"}': 2,
    })
    expect(growth(before, after, 'strand_http_request_duration_seconds_count')).toMatchObject({
      'strand_http_request_duration_seconds_count{operation="GetStreams"}': 12,
      'strand_http_request_duration_seconds_count{operation="PutFollow"}': 4,
    })
    expect(
      growth(before, after, 'strand_store_commands_total')[
        'strand_store_commands_total{command="putFollows",outcome="done"}'
      ],
    ).toBe(4)
    expect(after.series.get('strand_http_requests_in_flight')).toBe(1)
  })

  test('the store, the directory and the process are there with likely values', async () => {
    const { url, engine, strand } = server()
    const { series, kinds } = await scrape(url)
    const value = (name: string) => series.get(name) ?? Number.NaN
    expect(value('strand_directory_streams')).toBe(strand.services.directory.size)
    expect(value('strand_directory_viewers')).toBeGreaterThan(0)
    expect(value('strand_feed_stale_seconds')).toBeLessThan(5)
    expect(value('strand_feed_reloads_total')).toBe(1)
    expect(value('strand_data_disk_free_bytes')).toBeGreaterThan(0)
    expect(value('process_resident_memory_bytes')).toBeGreaterThan(10_000_000)
    expect(Math.abs(value('process_start_time_seconds') - Date.now() / 1000)).toBeLessThan(3600)
    if (engine === 'sqlite') {
      expect(value('strand_store_file_bytes{file="main"}')).toBeGreaterThan(0)
      expect(value('strand_store_batch_size_count')).toBeGreaterThan(0)
      expect(value('strand_store_writer_waiting')).toBe(0)
      // There is no backup.
      expect(kinds.get('strand_backup_last_success_timestamp_seconds')).toBe('gauge')
      expect(series.has('strand_backup_last_success_timestamp_seconds')).toBe(false)
    } else {
      expect(value('strand_postgres_primary_known')).toBe(1)
      expect(value('strand_postgres_connections_max{pool="writing"}')).toBe(3)
      expect(value('strand_postgres_writes_refused_total')).toBe(0)
      const { host } = new URL(process.env.TEST_DATABASE_URL ?? '')
      expect(value(`strand_postgres_primary_info{host="${host}"}`)).toBe(1)
      for (const table of ['users', 'tokens', 'feed', 'audit'])
        expect(value(`strand_store_table_bytes{table="${table}"}`)).toBeGreaterThan(0)
    }
    for (const [name, kind] of kinds)
      expect([name, name.endsWith('_total')]).toEqual([name, kind === 'counter'])
  })

  ofOneProcess('no request makes a new series, and nothing that was sent is in one', async () => {
    const { url, canaries, world } = server()
    await beHostile(server(), 'first')
    const before = await scrape(url)
    await beHostile(server(), 'second')
    const after = await scrape(url)
    expect([...after.series.keys()].filter(name => !before.series.has(name))).toEqual([])
    expect(after.text).not.toMatch(/first-|second-/i)
    expect(canaries.leaksIn(after.text)).toEqual([])
    for (const { id, login } of world.users) {
      expect(after.text).not.toContain(id)
      expect(after.text).not.toContain(login)
    }
    const others = ['page', 'image', 'broadcast', 'callback', 'other', 'unknown']
    const known = new Set([...operations.map(({ id }) => id), ...others])
    const result = [...after.text.matchAll(/operation="([^"]*)"/g)].map(([, name = '']) => name)
    expect(result.filter(name => !known.has(name))).toEqual([])
  })
})

onEachStore('refusals', { config: { rateLimits: { app: 5, user: 5, anonymous: 5 } } }, server => {
  ofOneProcess('of empty buckets are counted by the kind of bucket', async () => {
    const { url, world } = server()
    const before = await scrape(url)
    let refused = 0
    await times(9, async () => {
      const { status } = await server().call({ path: '/helix/streams', token: world.client.app_token })
      if (status === 429) refused += 1
    })
    expect(refused).toBeGreaterThan(0)
    const after = await scrape(url)
    expect(growth(before, after, 'strand_rate_limit_refusals_total')).toEqual({
      'strand_rate_limit_refusals_total{bucket="app"}': refused,
    })
    if (server().engine === 'postgres')
      expect(after.series.get('strand_rate_limit_leases_total{outcome="granted"}')).toBeGreaterThan(0)
  })
})

describe('the text', () => {
  test('is that of Prometheus, with values escaped', () => {
    const metrics = new Metrics()
    metrics.counter('a_total', 'A.', [[{ x: 'quote " slash \\ line \n' }, 2]])
    const sizes = new Histogram([1, 2.5])
    for (const size of [0.5, 1, 2, 9]) sizes.note(size)
    metrics.histogram('b', 'B.', sizes)
    expect(exposition(metrics.families)).toBe(`# HELP a_total A.
# TYPE a_total counter
a_total{x="quote \\" slash \\\\ line \\n"} 2
# HELP b B.
# TYPE b histogram
b_bucket{le="1"} 2
b_bucket{le="2.5"} 3
b_bucket{le="+Inf"} 4
b_sum 12.5
b_count 4
`)
  })

  test('of several workers has each family once', () => {
    const of = (value: number) => {
      const metrics = new Metrics()
      metrics.gauge('a', 'A.', value)
      return metrics.families
    }
    const result = new Map([
      ['0', of(1)],
      ['1', of(2)],
    ])
    expect(exposition(byWorker(result))).toBe(
      '# HELP a A.\n# TYPE a gauge\na{worker="0"} 1\na{worker="1"} 2\n',
    )
  })
})
