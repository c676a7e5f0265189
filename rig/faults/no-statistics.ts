/** F28. A new or restored PostgreSQL has no statistics, and its plans are guesses. */
import { SQL } from 'bun'
import { entitlementId, openFilled } from '../../test/support/store/many-rows.ts'
import { startPostgres } from '../../test/support/store/postgres.ts'
import { createLoneNode } from '../cluster/lone-node.ts'
import { outcomeOf } from '../load/caller.ts'
import type { Trial } from './fault.ts'
import { atMost, DEADLINE_SECONDS, listOfKinds, longestWait } from './findings.ts'

/** More often than PostgreSQL plans a statement for its values before it considers a plan for any values. */
const CALLS = 8
const GRANTS = 1000
const IDS = 100

export const noStatistics: Trial = {
  name: 'no-statistics',
  what: 'PostgreSQL has 300,000 rows that it never analyzed, and every request has its longest list',
  seconds: () => 40,
  run: async site => {
    const postgres = await startPostgres()
    site.lifetime.onClose(() => postgres.stop())
    const client = new SQL(postgres.url, { max: 1 })
    site.lifetime.onClose(() => client.close())
    const { node, caller, operatorToken } = await createLoneNode(site, 'no-statistics', {
      DATABASE_URL: postgres.url,
    })
    // It collects statistics of large tables when it starts.
    await node.start()
    const place = { folder: site.folder, databaseUrl: postgres.url, remove: async () => undefined }
    const opened = await openFilled(place, 1, { analyze: false })
    await opened.close()
    const token = operatorToken
    const make = async (path: string, body: object) =>
      (await caller.must('setting up', 'POST', `/control/${path}`, { token, body })).body.data[0]
    const { access_token } = await make('tokens', { client_id: 'c1', expires_in: 3600 })
    const organization = await make('organizations', { name: 'Reef Interactive' })
    const game = await make('games', { name: 'Tidefall', organization_id: organization.id })
    const owned = { organization_id: organization.id, game_id: game.id }
    const benefit = await make('benefits', { name: 'Coral lantern', ...owned })
    const listed = (name: string, count: number, value: (n: number) => string) =>
      Array.from({ length: count }, (_, n) => `${name}=${value(n)}`).join('&')
    const first = caller.asked.length
    for (let call = 0; call < CALLS; call++) {
      const grants = Array.from({ length: GRANTS }, (_, n) => ({
        user_id: String(n + 1),
        benefit_id: benefit.id,
        game_id: game.id,
      }))
      await caller.ask('update', 'POST', '/control/entitlements', { token, body: { grants } })
      const ids = listed('id', IDS, n => entitlementId(2 * n + 2))
      await caller.ask('read', 'GET', `/helix/entitlements/drops?${ids}`, { token: access_token })
      await caller.ask('read', 'GET', `/control/entitlements?${ids}`, { token })
      for (const path of ['users', 'videos', 'games'])
        await caller.ask('read', 'GET', `/helix/${path}?${listed('id', IDS, n => String(n + 1))}`, {
          token: access_token,
        })
    }
    const asked = caller.asked.slice(first)
    const failed = asked.filter(each => outcomeOf(each) !== 'ok')
    const [row] = await client.unsafe(
      `select count(*)::int as running from pg_stat_activity
       where state = 'active' and backend_type = 'client backend' and pid <> pg_backend_pid()`,
    )
    await node.stop()
    return [
      {
        ...atMost('requests that failed', failed.length, 0),
        measured: listOfKinds(failed) || `0 of ${asked.length}`,
      },
      atMost('longest response time', longestWait(asked), DEADLINE_SECONDS, ' s'),
      atMost('statements that PostgreSQL still runs after the last response', row.running, 0),
    ]
  },
}
