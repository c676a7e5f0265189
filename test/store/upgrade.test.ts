/** A store of the schema before `010-neighbours`, with something in every table that it changes, is upgraded. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createLog } from '../../src/kit/log.ts'
import { readConfig } from '../../src/server/config.ts'
import { type StrandServer, startServer } from '../../src/server/serve.ts'
import { migrations } from '../../src/store/engines/migrations/index.ts'
import { migrateTo } from '../support/migrate-to.ts'
import { createStorePlace, engines, executeIn, type StorePlace } from '../support/server.ts'

const BEFORE = migrations.slice(0, 9)

/** As the version before wrote them: no column of a later schema is named. */
const OLD_ROWS = [
  `insert into users (id, login, display_name, created_at) values
     ('11', 'lunar_otter', 'Lunar_Otter', '2026-01-01T10:00:00.750Z'),
     ('12', 'quiet_heron', 'ÉTOILE İ', '2026-03-01T10:00:00.250Z'),
     ('13', 'amber_lynx', '灯台', '2026-02-01T10:00:00.000Z')`,
  `insert into games (id, name) values ('7', 'Hollow ORCHARD'), ('8', 'Thaw')`,
  `insert into channels (user_id, title, game_id, language, tags, is_mature, vod_enabled) values
     ('11', 'First light', '7', 'cs', '["two words"]', 0, 1),
     ('12', '', null, 'en', '[]', 1, 1),
     ('13', 'Elsewhere', null, 'de', '[]', 0, 1)`,
  `insert into editors (user_id, editor_id) values ('11', '12'), ('11', '13')`,
  `insert into follows (user_id, broadcaster_id) values ('12', '11'), ('13', '11'), ('11', '13'), ('13', '13')`,
  `insert into videos (id, user_id, created_at, ended_at) values
     ('101', '11', '2026-03-02T10:00:00Z', '2026-03-02T12:00:00Z'),
     ('102', '11', '2026-03-03T10:00:00Z', null),
     ('103', '12', '2026-03-04T10:00:00Z', '2026-03-04T10:00:00Z')`,
  `insert into streams (user_id, id, video_id, started_at, viewer_count)
     values ('11', '202', '102', '2026-03-03T10:00:00Z', 5)`,
]

const config = ({ folder, databaseUrl }: StorePlace) =>
  readConfig({}, undefined, {
    STRAND_LISTEN: '127.0.0.1:0',
    STRAND_DATA: folder,
    DATABASE_URL: databaseUrl,
    STRAND_DATABASE_CONNECTIONS: '4',
  })

const start = (place: StorePlace) =>
  startServer({
    config: config(place),
    log: createLog({ level: 'error', readable: false, write: () => undefined }),
    demo: false,
  })

for (const engine of engines) {
  describe(`an upgrade on ${engine}`, () => {
    let place: StorePlace
    let strand: StrandServer
    const rows = (statement: string) => executeIn(place, statement)

    beforeAll(async () => {
      place = await createStorePlace(engine, { empty: true })
      await migrateTo(place, BEFORE)
      for (const statement of OLD_ROWS) await rows(statement)
      strand = await start(place)
    })
    afterAll(async () => {
      await strand.stop()
      await place.remove()
    })

    test('users, games and channels have the values of what nobody has set', async () => {
      const { store } = strand.services
      expect(await store.users.find('12')).toEqual({
        id: '12',
        login: 'quiet_heron',
        display_name: 'ÉTOILE İ',
        description: '',
        broadcaster_type: '',
        email: null,
        created_at: '2026-03-01T10:00:00.250Z',
      })
      expect(await store.games.find('7')).toEqual({
        id: '7',
        name: 'Hollow ORCHARD',
        organization_id: null,
        igdb_id: '',
      })
      expect(await store.channels.find('11')).toMatchObject({
        title: 'First light',
        tags: ['two words'],
        delay: 0,
        content_classification_labels: [],
        is_branded_content: false,
      })
    })

    test('names are folded when the server starts', async () => {
      expect(await rows('select id, display_name_folded as folded from users order by id')).toEqual([
        { id: '11', folded: 'lunar_otter' },
        { id: '12', folded: 'étoile i̇' },
        { id: '13', folded: '灯台' },
      ])
      expect(await rows('select id, name_folded as folded from games order by id')).toEqual([
        { id: '7', folded: 'hollow orchard' },
        { id: '8', folded: 'thaw' },
      ])
    })

    test('follows and editors have the time of the younger account, in whole seconds', async () => {
      const follows =
        'select user_id, broadcaster_id, followed_at from follows order by user_id, broadcaster_id'
      expect(await rows(follows)).toEqual([
        { user_id: '11', broadcaster_id: '13', followed_at: '2026-02-01T10:00:00Z' },
        { user_id: '12', broadcaster_id: '11', followed_at: '2026-03-01T10:00:00Z' },
        { user_id: '13', broadcaster_id: '11', followed_at: '2026-02-01T10:00:00Z' },
        { user_id: '13', broadcaster_id: '13', followed_at: '2026-02-01T10:00:00Z' },
      ])
      expect(await rows('select editor_id, created_at from editors order by editor_id')).toEqual([
        { editor_id: '12', created_at: '2026-03-01T10:00:00Z' },
        { editor_id: '13', created_at: '2026-02-01T10:00:00Z' },
      ])
    })

    test('follows are counted on both sides', async () => {
      const counts = await rows('select user_id, following, followers from follow_counts order by user_id')
      expect(counts.map(row => [row.user_id, Number(row.following), Number(row.followers)])).toEqual([
        ['11', 1, 2],
        ['12', 1, 0],
        ['13', 2, 2],
      ])
    })

    test('videos have what their channel shows now; only that of a running stream knows its stream', async () => {
      const [ended, running, other] = await rows('select * from videos order by id')
      const ofChannel = { title: 'First light', language: 'cs', game_id: '7', description: '', view_count: 0 }
      expect(ended).toMatchObject({ id: '101', stream_id: null, ...ofChannel })
      expect(running).toMatchObject({ id: '102', stream_id: '202', ended_at: null, ...ofChannel })
      expect(other).toMatchObject({ id: '103', stream_id: null, title: '', language: 'en', game_id: null })
    })

    test('an upgraded store exports, and an empty one imports that', async () => {
      const { exportLines } = await import('../../src/transfer/export.ts')
      let lines = ''
      await exportLines(strand.services.store, {}, text => {
        lines += text
      })
      expect(lines).toContain('"followed_at":"2026-03-01T10:00:00Z"')
      expect(lines).not.toContain('"followed_at":null')
    })
  })
}

/** SQLite has one version of the program at a time: only here do two write. */
describe.skipIf(!engines.includes('postgres'))('a node of the version before, on the new schema', () => {
  let place: StorePlace
  let strand: StrandServer
  beforeAll(async () => {
    place = await createStorePlace('postgres', { empty: true })
    await migrateTo(place, migrations)
    for (const statement of OLD_ROWS) await executeIn(place, statement)
    strand = await start(place)
  })
  afterAll(async () => {
    await strand.stop()
    await place.remove()
  })

  test('adds follows and editors with the time of the write', async () => {
    const times = [
      ...(await executeIn(place, 'select followed_at as time from follows')),
      ...(await executeIn(place, 'select created_at as time from editors')),
    ] as { time: string }[]
    expect(times).toHaveLength(6)
    for (const { time } of times) {
      expect(time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
      expect(Date.parse(time)).toBeWithin(Date.now() - 120_000, Date.now() + 1000)
    }
  })

  test('adds names that the next start or sweep folds, and follows that are counted', async () => {
    const { commands } = strand.services.store
    const missing = 'select 1 from users where display_name_folded is null'
    expect(await executeIn(place, missing)).toEqual([])
    await executeIn(place, "update users set display_name = 'X', display_name_folded = null where id = '11'")
    expect(await commands.foldNames({})).toBe(1)
    expect(await executeIn(place, missing)).toEqual([])
    const counts =
      'select sum(following)::int as following, sum(followers)::int as followers from follow_counts'
    expect(await executeIn(place, counts)).toEqual([{ following: 4, followers: 4 }])
  })

  test('adds videos that get the texts of the channel and their stream when it ends', async () => {
    await strand.services.store.commands.endStream({ user_id: '11', now: Date.now() })
    const [video] = await executeIn(place, "select * from videos where id = '102'")
    expect(video).toMatchObject({ stream_id: '202', title: 'First light', language: 'cs', game_id: '7' })
    const [left] = await executeIn(place, "select * from videos where id = '101'")
    expect(left).toMatchObject({ stream_id: null, title: '', language: 'en', view_count: 0 })
  })
})
