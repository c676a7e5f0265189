/** Dashboard, alerts and their page name metrics that exist. */
import { beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { MetricsExchange } from '../../src/cli/serve/worker-metrics.ts'
import { readConfig } from '../../src/config/config.ts'
import { createLog } from '../../src/kit/telemetry/log.ts'
import { exposition } from '../../src/kit/telemetry/metrics.ts'
import { scrape } from '../support/server/scrape.ts'
import { engines, startTestServer } from '../support/server.ts'

const FOLDER = 'docs/monitoring'
const read = (name: string) => readFileSync(join(FOLDER, name), 'utf8')

interface Rule {
  readonly alert: string
  readonly expr: string
  readonly labels: { readonly severity: string }
  readonly annotations: { readonly summary: string; readonly runbook: string }
}

interface Panel {
  readonly id: number
  readonly title: string
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number }
  readonly targets?: readonly { readonly expr: string }[]
}

const rules: readonly Rule[] = parse(read('alerts.yaml')).groups.flatMap(
  (group: { rules: Rule[] }) => group.rules,
)
const dashboard: { readonly panels: readonly Panel[] } = JSON.parse(read('grafana-dashboard.json'))
const questions = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))
const page = readFileSync('docs/monitoring.md', 'utf8')

/** Names of metrics in an expression. */
const namesIn = (text: string) => text.match(/\b(?:strand|process)_[a-z_]+\b/g) ?? []

/** What the supervisor of several workers adds. */
async function metricsOfSupervisor(): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  const exchange = new MetricsExchange(
    () => new Map(),
    () => ({ configured: 2, serving: 2, restarts: 0, stalls: 0 }),
  )
  const send = (message: object) => {
    if ('families' in message) resolve(exposition(message.families as Parameters<typeof exposition>[0]))
  }
  exchange.receive({ metrics: 'scrape', scrape: 1 }, { send })
  return promise
}

describe.skipIf(engines.length < 2)('metrics that are named', () => {
  /** Everything that servers of both stores expose, and the supervisor of workers. */
  let text = ''
  let families: readonly string[] = []
  let names: ReadonlySet<string>

  beforeAll(async () => {
    const { objectStorage } = readConfig({}, undefined, {
      ...{ STRAND_S3_ENDPOINT: 'http://127.0.0.1:9', STRAND_S3_BUCKET: 'recordings' },
      ...{ STRAND_S3_ACCESS_KEY_ID: 'key', STRAND_S3_SECRET_ACCESS_KEY: 'secret' },
    })
    for (const engine of engines) {
      const server = await startTestServer(engine, {
        // A demo uploads nothing.
        demo: engine === 'sqlite',
        config: { rateLimits: { app: 9, user: 9, anonymous: 9 }, thumbnails: true, objectStorage },
      })
      await server.call({ path: '/helix/streams' })
      text += (await scrape(server.url)).text
      await server.stop()
    }
    text += await metricsOfSupervisor()
    families = [...new Set([...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name = '']) => name))]
    names = new Set([...families, ...[...text.matchAll(/^([a-z_]+)[{ ]/gm)].map(([, name = '']) => name)])
  })

  test('by the dashboard', () => {
    expect(questions.length).toBeGreaterThan(50)
    expect(questions.flatMap(namesIn).filter(name => !names.has(name))).toEqual([])
  })

  test('by the alerts, also with their labels', () => {
    expect(rules.flatMap(({ expr }) => namesIn(expr)).filter(name => !names.has(name))).toEqual([])
    const absent = rules
      .flatMap(({ expr }) => [...expr.matchAll(/(strand_\w+)\{(\w+="[^"]*")\}/g)])
      .filter(([, name, label]) => !new RegExp(`^${name}\\{[^}]*${label}`, 'm').test(text))
    expect(absent.map(([match]) => match)).toEqual([])
  })

  test('by the page: all of them, and no other', () => {
    const [, table = ''] = page.split('## Metrics')
    const [result = ''] = table.split('## Alerts')
    const listed = [...result.matchAll(/^\| (`.*?) \|/gm)].flatMap(([, cell = '']) => namesIn(cell))
    expect(listed.toSorted()).toEqual(families.toSorted())
    expect(namesIn(page).filter(name => !names.has(name))).toEqual([])
  })
})

describe('the alerts', () => {
  test('each has a part of the page, with something to read, and the other way round', () => {
    const headings = [...page.matchAll(/^### (Strand\w+)\n\n(.{80,})$/gm)].map(([, name]) => name)
    expect(headings).toEqual(rules.map(({ alert }) => alert))
    for (const { alert, labels, annotations } of rules) {
      expect(annotations.runbook).toBe(`docs/monitoring.md#${alert.toLowerCase()}`)
      expect(['page', 'ticket']).toContain(labels.severity)
      expect(annotations.summary).toMatch(/\.$/)
    }
  })

  test('each is tested, firing and not firing', () => {
    const cases: readonly { alertname: string; exp_alerts: readonly unknown[] }[] = parse(
      read('alerts.test.yaml'),
    ).tests.flatMap((each: { alert_rule_test: unknown[] }) => each.alert_rule_test)
    for (const { alert } of rules) {
      const outcomes = cases
        .filter(({ alertname }) => alertname === alert)
        .map(each => each.exp_alerts.length > 0)
      expect([alert, outcomes.includes(true), outcomes.includes(false)]).toEqual([alert, true, true])
    }
  })
})

describe('the dashboard', () => {
  test('no two panels lie on each other or have the same number', () => {
    const { panels } = dashboard
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
    const overlaps = panels.flatMap(({ title, gridPos: a }, index) =>
      panels
        .slice(index + 1)
        .filter(({ gridPos: b }) => a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h)
        .map(other => `${title} and ${other.title}`),
    )
    expect(overlaps).toEqual([])
  })
})

describe('the OpenTelemetry Collector', () => {
  const { receivers, processors, exporters, service } = parse(read('opentelemetry-collector.yaml'))
  const [json, ...others] = receivers.filelog.operators

  test('has every part that its pipelines name, and no other', () => {
    const used = Object.values<Record<string, string[]>>(service.pipelines)
    for (const [kind, parts] of Object.entries({ receivers, processors, exporters }))
      expect([...new Set(used.flatMap(each => each[kind] ?? []))].toSorted()).toEqual(
        Object.keys(parts).toSorted(),
      )
  })

  test('scrapes where Prometheus does', () => {
    const [job] = receivers.prometheus.config.scrape_configs
    const [other] = parse(read('prometheus.yaml')).scrape_configs
    expect([job.job_name, job.static_configs]).toEqual([other.job_name, other.static_configs])
  })

  test('reads fields that a line of the log has', () => {
    const lines: string[] = []
    const log = createLog({ level: 'info', readable: false, write: line => lines.push(line) })
    log.info({ request_id: 'one', trace_id: 'a'.repeat(32) }, 'answered')
    const line = JSON.parse(lines[0] ?? '')
    const fields = [
      json.timestamp.parse_from,
      json.severity.parse_from,
      ...others.map((each: { trace_id?: { parse_from: string }; from?: string }) =>
        each.trace_id ? each.trace_id.parse_from : each.from,
      ),
    ]
    expect(fields.map(field => field.replace('attributes.', ''))).toEqual([
      'time',
      'level',
      'trace_id',
      'msg',
    ])
    for (const field of fields) expect(line).toHaveProperty(field.replace('attributes.', ''))
    // %Y-%m-%dT%H:%M:%S.%LZ
    expect(json.timestamp.layout).toBe('%Y-%m-%dT%H:%M:%S.%LZ')
    expect(line.time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  })
})
