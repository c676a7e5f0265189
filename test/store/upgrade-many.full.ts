/**
 * How long upgrades take. To the schema with counted follows, and how long a follow waits meanwhile: of a store with 10,000
 * users and 50,000 follows, or with FOLLOWS_EACH=100 a million. To the schema with compact rows, and what they take
 * afterwards: of a store with 10,000 fulfilled entitlements, or with ENTITLEMENTS=1000000 a million. It prints what it
 * measured, for docs/upgrading.md.
 */
import { expect, test } from 'bun:test'
import { SQL } from 'bun'
import { migrations } from '../../src/store/engines/migrations/index.ts'
import { migrateTo } from '../support/migrate-to.ts'
import { createStorePlace, engines, executeIn, type StorePlace } from '../support/server.ts'

const BEFORE = migrations.slice(0, 9)
const USERS = 10_000
const EACH = Number(process.env.FOLLOWS_EACH ?? 5)

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

/** Grants as a node of the version before does, until its table is gone; how many grants were committed. */
async function grantMeanwhile(databaseUrl: string): Promise<number> {
  const client = new SQL(databaseUrl, { max: 1 })
  try {
    for (let granted = 0; ; granted++) {
      const isCommitted = await client.unsafe(grant).then(
        () => true,
        (error: { errno: string }) => {
          expect(error.errno).toBe('42P01')
          return false
        },
      )
      if (!isCommitted) return granted
    }
  } finally {
    await client.close()
  }
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
      await migrateTo(place, BEFORE)
      for (const statement of ROWS) await executeIn(place, statement)
      const [{ count }] = await executeIn(place, 'select count(*) as count from follows')
      expect(Number(count)).toBeGreaterThan(0.98 * USERS * EACH)
      const { databaseUrl } = place
      const writers =
        databaseUrl === undefined
          ? []
          : [follow, unfollow].map(statementOf => writeMeanwhile(databaseUrl, statementOf))
      const began = performance.now()
      await migrateTo(place)
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

const ENTITLEMENTS = Number(process.env.ENTITLEMENTS ?? 10_000)
const BEFORE_COMPACT = migrations.slice(0, 16)
const ORGANIZATION = '5c0f4d0e-9d4a-4f0e-8a57-2f4f6ad0c3a1'

/** A number as hexadecimal digits that look random, as those of ids are. */
const scattered = (engine: string, factor: number, digits: number) =>
  engine === 'sqlite'
    ? `substr(printf('%016x', (i + 1) * ${factor}), ${17 - digits})`
    : `substr(lpad(to_hex((i + 1) * ${factor}::bigint), 16, '0'), ${17 - digits})`

/** As the release before stored them: granted one after another, fulfilled a day later, each with a row in the audit log. */
function entitlementsOfBefore(engine: string): string[] {
  const id = `${scattered(engine, 2_654_435_761, 8)} || '-0000-4000-8000-' || ${scattered(engine, 40_503_929_117, 12)}`
  const time = (day: number) =>
    engine === 'sqlite'
      ? `strftime('%Y-%m-%dT%H:%M:%S', ${1_767_225_600 + day * 86_400} + i * 7, 'unixepoch') || '.250Z'`
      : `to_char(to_timestamp(${1_767_225_600 + day * 86_400} + i * 7) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS') || '.250Z'`
  const all = numbers(ENTITLEMENTS)
  return [
    `insert into organizations (id, name) values ('${ORGANIZATION}', 'Reef')`,
    `insert into games (id, name) values ('7', 'Tidefall')`,
    `insert into benefits (id, name, organization_id) values ('b', 'Lantern', '${ORGANIZATION}')`,
    `insert into entitlements (id, organization_id, benefit_id, user_id, game_id, timestamp, fulfillment_status, last_updated)
       ${all} select ${id}, '${ORGANIZATION}', 'b', cast(100000000 + i % 9973 as text), '7', ${time(0)}, 'FULFILLED', ${time(1)} from n`,
    `insert into audit (chain, seq, at, actor, operation, subject, place, before, after, previous, hash)
       ${all} select '${ORGANIZATION}', i + 1, ${time(1)}, 'client/benchbenchbenchbenchbenchbench', 'UpdateDropsEntitlements',
         'entitlement/' || ${id}, ${time(0)}, '"CLAIMED"', '"FULFILLED"', '', '' from n`,
  ]
}

const grant = `insert into entitlements (id, organization_id, benefit_id, user_id, game_id, timestamp, fulfillment_status, last_updated)
  values (cast(gen_random_uuid() as text), '${ORGANIZATION}', 'b', '1', '7', '2026-06-01T00:00:00.000Z', 'CLAIMED', '2026-06-01T00:00:00.000Z')`

/** All bytes of a store, without what deleted rows left behind. */
async function bytesOf(place: StorePlace): Promise<number> {
  await executeIn(place, place.databaseUrl === undefined ? 'vacuum' : 'vacuum full')
  const [{ bytes }] = await executeIn(
    place,
    place.databaseUrl === undefined
      ? 'select page_count * page_size as bytes from pragma_page_count, pragma_page_size'
      : 'select sum(pg_total_relation_size(relid)) as bytes from pg_stat_user_tables',
  )
  return Number(bytes)
}

test.each([...engines])(
  'many entitlements become compact on %s',
  async engine => {
    const place = await createStorePlace(engine, { empty: true })
    try {
      await migrateTo(place, BEFORE_COMPACT)
      const empty = await bytesOf(place)
      for (const statement of entitlementsOfBefore(engine)) await executeIn(place, statement)
      const before = await bytesOf(place)
      const { databaseUrl } = place
      const granting = databaseUrl === undefined ? 0 : grantMeanwhile(databaseUrl)
      const began = performance.now()
      await migrateTo(place)
      const took = performance.now() - began
      const granted = await granting
      const [claimed] = await executeIn(
        place,
        'select count(*) as count from organization_entitlements where fulfilled = 0',
      )
      expect(Number(claimed.count)).toBe(granted)
      const after = await bytesOf(place)
      const [{ count }] = await executeIn(
        place,
        'select count(*) as count from organization_entitlements where fulfilled = 1',
      )
      expect(Number(count)).toBe(ENTITLEMENTS)
      const each = (bytes: number) => `${Math.round((bytes - empty) / ENTITLEMENTS)} bytes`
      process.stdout.write(
        `${engine}: ${count} entitlements migrated in ${seconds(took)}; ${each(before)} each before, ${each(after)} after\n`,
      )
      expect(after).toBeLessThan(before)
    } finally {
      await place.remove()
    }
  },
  1_200_000,
)
