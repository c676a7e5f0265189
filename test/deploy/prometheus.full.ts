/** Prometheus takes what the server exposes, and the alerts and the dashboard that come with it. */
import { afterAll, describe, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { onEachStore } from '../support/server/each-store.ts'
import { askPromtool, promtool } from '../support/server/promtool.ts'
import { scrape } from '../support/server/scrape.ts'

const FOLDER = 'docs/monitoring'

onEachStore('metrics', {}, server => {
  test.skipIf(promtool === undefined)('Prometheus reads it without an error', async () => {
    await server().call({ path: '/helix/streams' })
    await askPromtool(['check', 'metrics'], (await scrape(server().url)).text)
  })
})

describe('the alerts', () => {
  test.skipIf(promtool === undefined)(
    'Prometheus takes them, and they have the expected values',
    async () => {
      await askPromtool(['check', 'config', join(FOLDER, 'prometheus.yaml')])
      await askPromtool(['test', 'rules', join(FOLDER, 'alerts.test.yaml')])
    },
  )
})

describe('the dashboard', () => {
  const dashboard: { panels: { targets?: { expr: string }[] }[] } = JSON.parse(
    readFileSync(join(FOLDER, 'grafana-dashboard.json'), 'utf8'),
  )
  const questions = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))
  const folder = mkdtempSync(join(tmpdir(), 'strand-dashboard-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  test.skipIf(promtool === undefined)('asks questions that Prometheus understands', async () => {
    const asRules = questions.map((expr, index) => ({
      record: `question_${index}`,
      expr: expr.replaceAll('$__rate_interval', '1m').replaceAll('$job', '.+').replaceAll('$instance', '.+'),
    }))
    const file = join(folder, 'questions.yaml')
    writeFileSync(file, stringify({ groups: [{ name: 'dashboard', rules: asRules }] }))
    await askPromtool(['check', 'rules', file])
  })
})
