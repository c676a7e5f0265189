/**
 * How long the upgrade to the schema with counted follows takes, and how long a follow waits meanwhile: of a store with
 * 10,000 users and 100,000 follows, or with FOLLOWS_EACH=100 a million. It prints what it measured, for docs/upgrading.md.
 */
import { expect, test } from 'bun:test'
import { SQL } from 'bun'
import { migrations } from '../../src/store/engines/migrations/index.ts'
import { migratePostgres } from '../../src/store/engines/postgres-migrate.ts'
import { migrateSqlite } from '../../src/store/engines/sqlite-migrate.ts'
import { createStorePlace, engines, executeIn, type StorePlace } from '../support/server.ts'

const BEFORE = migrations.slice(0, 9)
const USERS = 10_000
const EACH = Number(process.env.FOLLOWS_EACH ?? 10)

const numbers = (count: number) =>
  `with recursive n (i) as (select 0 union all select i + 1 from n where i < ${count - 1})`

/** User i follows those that come after i * 37, and user 1 is followed by everyone. */
const ROWS = [
  `insert into users (id, login, display_name, created_at)
     ${numbers(USERS)} select cast(1 + i as text), 'user_' || (1 + i), 'User_' || (1 + i), '2026-01-01T00:00:00.000Z' from n`,
  `insert into channels (user_id, title, language, tags, is_mature, vod_enabled)
     select id, 'Title', 'en', '[]', 0, 1 from users`,
  `insert into follows (user_id, broadcaster_id)
     ${numbers(EACH)} select u.id, cast(1 + (case when n.i = 0 then 0 else cast(u.id as integer) * 37 + n.i end) % ${USERS} as text)
     from users u, n where true on conflict do nothing`,
]

async function migrate(place: StorePlace, list: typeof migrations): Promise<void> {
  const { databaseUrl } = place
  if (databaseUrl === undefined) await migrateSqlite(`${place.folder}/strand.db`, list)
  else await migratePostgres(() => new SQL(databaseUrl, { max: 1 }), { migrations: list })
}

/** Runs a statement as a node of the version before does, until it is stopped; the longest wait in milliseconds. */
function writeMeanwhile(
  databaseUrl: string,
  statementOf: (turn: number) => string,
): { stop(): Promise<number> } {
  const client = new SQL(databaseUrl, { max: 1 })
  let isRunning = true
  const running = (async () => {
    let longest = 0
    for (let turn = 0; isRunning; turn++) {
      const began = performance.now()
      await client.unsafe(statementOf(turn))
      longest = Math.max(longest, performance.now() - began)
      await Bun.sleep(20)
    }
    await client.close()
    return longest
  })()
  return {
    stop: () => {
      isRunning = false
      return running
    },
  }
}

/** Of channels that the user does not follow yet. */
const follow = (turn: number) =>
  `insert into follows (user_id, broadcaster_id) values ('1', '${5000 + (turn % 4000)}') on conflict do nothing`

/** Of follows from before. */
const unfollow = (turn: number) =>
  `delete from follows where user_id = '${USERS - (turn % 9000)}' and broadcaster_id = '1'`

const seconds = (milliseconds: number) => `${(milliseconds / 1000).toFixed(1)} s`

test.each([...engines])(
  'many follows are dated and counted on %s',
  async engine => {
    const place = await createStorePlace(engine, { empty: true })
    try {
      await migrate(place, BEFORE)
      for (const statement of ROWS) await executeIn(place, statement)
      const [{ count }] = await executeIn(place, 'select count(*) as count from follows')
      expect(Number(count)).toBeGreaterThan(0.98 * USERS * EACH)
      const { databaseUrl } = place
      const writers =
        databaseUrl === undefined
          ? []
          : [follow, unfollow].map(statementOf => writeMeanwhile(databaseUrl, statementOf))
      const began = performance.now()
      await migrate(place, migrations)
      const took = performance.now() - began
      const waits = await Promise.all(writers.map(writer => writer.stop()))
      const longest = waits.map(seconds).join(' and ')
      const others = databaseUrl === undefined ? '' : `; a follow and an unfollow waited at most ${longest}`
      process.stdout.write(`${engine}: ${count} follows migrated in ${seconds(took)}${others}\n`)
      const [sums] = await executeIn(
        place,
        'select sum(following) as following, sum(followers) as followers from follow_counts',
      )
      const [now] = await executeIn(place, 'select count(*) as count from follows')
      expect([Number(sums.following), Number(sums.followers)]).toEqual([Number(now.count), Number(now.count)])
      const [undated] = await executeIn(
        place,
        'select count(*) as count from follows where followed_at is null',
      )
      expect(Number(undated.count)).toBe(0)
    } finally {
      await place.remove()
    }
  },
  600_000,
)
