/** Lines with fewer fields than those of an export, as in a file that is written by hand. */
import { describe, expect, test } from 'bun:test'
import { MAX_EDITORS } from '../../src/contract/resources/channel.ts'
import { isoSeconds } from '../../src/kit/time/clock.ts'
import { engines } from '../support/server.ts'
import { textOf, withStations } from './round-trip.ts'
import { exported, imported, type Station } from './stations.ts'

const CREATED = '2026-01-01T00:00:00.000Z'
const user = (id: string, more: object = {}) => ({ type: 'user', id, login: `user_${id}`, ...more })
const channel = (user_id: string, more: object) => ({ type: 'channel', user_id, ...more })

/** The lines of one type. */
async function linesOf(station: Station, type: string) {
  const lines = (await exported(station)).split('\n').filter(line => line !== '')
  return lines.map(line => JSON.parse(line)).filter(line => line.type === type)
}

/** What an import reports for the only type of its lines. */
async function countsOf(station: Station, ...lines: object[]) {
  const { types } = await imported(station, textOf(lines))
  return Object.values(types)[0]
}

const changed = (count: number) => ({ created: 0, changed: count, unchanged: 0 })
const unchanged = (count: number) => ({ created: 0, changed: 0, unchanged: count })

describe.each([...engines])('on %s', engine => {
  const onStation = (work: (station: Station) => Promise<void>) =>
    withStations([engine], station => work(station as Station))

  test('fields that lines leave out have their defaults, or the values of the channel (D-94)', () =>
    onStation(async station => {
      const before = isoSeconds(Date.now())
      const summary = await imported(
        station,
        textOf([
          user('1', { created_at: CREATED }),
          user('2', { created_at: CREATED }),
          { type: 'game', id: '7', name: 'Tidefall', organization_id: null },
          channel('1', { title: 'Reef', game_id: '7', language: 'cs', tags: ['Calm'] }),
          { type: 'editor', user_id: '1', editor_id: '2' },
          { type: 'follow', user_id: '2', broadcaster_id: '1' },
          {
            type: 'video',
            id: '30',
            user_id: '1',
            created_at: '2026-01-02T00:00:00Z',
            ended_at: '2026-01-02T01:00:00Z',
          },
          { type: 'video', id: '31', user_id: '1', created_at: '2026-01-03T00:00:00Z', ended_at: null },
          { type: 'stream', id: '41', user_id: '1', video_id: '31', started_at: '2026-01-03T00:00:00Z' },
        ]),
      )
      expect(summary.skipped).toBe(0)
      const after = isoSeconds(Date.now())
      expect((await linesOf(station, 'user'))[0]).toMatchObject({
        description: '',
        broadcaster_type: '',
        email: null,
      })
      expect((await linesOf(station, 'game'))[0].igdb_id).toBe('')
      expect((await linesOf(station, 'channel'))[0]).toMatchObject({
        delay: 0,
        content_classification_labels: [],
        is_branded_content: false,
      })
      const ofChannel = { title: 'Reef', language: 'cs', game_id: '7', description: '', view_count: 0 }
      const [ended, running] = await linesOf(station, 'video')
      expect(ended).toMatchObject({ id: '30', stream_id: null, ...ofChannel })
      expect(running).toMatchObject({ id: '31', stream_id: '41', ...ofChannel })
      const [{ created_at }] = await linesOf(station, 'editor')
      const [{ followed_at }] = await linesOf(station, 'follow')
      for (const time of [created_at, followed_at]) expect(time >= before && time <= after).toBe(true)
    }))

  test('a line that changes only one optional field counts as changed, and again as unchanged', () =>
    onStation(async station => {
      const video = { type: 'video', id: '30', user_id: '1', created_at: '2026-01-02T00:00:00Z' }
      const editor = { type: 'editor', user_id: '1', editor_id: '2' }
      const follow = { type: 'follow', user_id: '2', broadcaster_id: '1' }
      const game = { type: 'game', id: '7', name: 'Tidefall' }
      await imported(station, textOf([user('1'), user('2'), game, editor, follow, video]))
      for (const [line, change] of [
        [user('1'), { description: 'Slow dives' }],
        [user('1'), { broadcaster_type: 'partner' }],
        [user('1'), { email: 'otter@example.com' }],
        [user('1'), { email: null }],
        [game, { igdb_id: '90210' }],
        [channel('1', {}), { delay: 30 }],
        [channel('1', {}), { content_classification_labels: ['Gambling'] }],
        [channel('1', {}), { is_branded_content: true }],
        [channel('1', {}), { language: 'other' }],
        [editor, { created_at: '2026-01-05T00:00:00Z' }],
        [follow, { followed_at: '2026-01-06T00:00:00Z' }],
        [video, { stream_id: '41' }],
        [video, { title: 'Frozen' }],
        [video, { description: 'A long dive' }],
        [video, { language: 'de' }],
        [video, { game_id: '7' }],
        [video, { view_count: 12 }],
        [video, { game_id: null }],
      ] as const) {
        expect(await countsOf(station, { ...line, ...change })).toEqual(changed(1))
        expect(await countsOf(station, { ...line, ...change })).toEqual(unchanged(1))
        expect(await countsOf(station, line)).toEqual(unchanged(1))
        expect((await linesOf(station, line.type))[0]).toMatchObject(change)
      }
    }))

  test('lists are compared as they are stored', () =>
    onStation(async station => {
      await imported(station, textOf([user('1')]))
      const line = channel('1', {
        tags: ['Sea', 'SEA'],
        content_classification_labels: ['ViolentGraphic', 'Gambling', 'Gambling'],
      })
      expect(await countsOf(station, line)).toEqual(changed(1))
      expect(await countsOf(station, line)).toEqual(unchanged(1))
      expect((await linesOf(station, 'channel'))[0]).toMatchObject({
        tags: ['Sea'],
        content_classification_labels: ['Gambling', 'ViolentGraphic'],
      })
    }))

  test('of a relation with two times in one file, the later line counts, again and again', () =>
    onStation(async station => {
      await imported(station, textOf([user('1'), user('2')]))
      const follows = ['2026-01-05T00:00:00Z', '2026-01-06T00:00:00Z', '2026-01-04T00:00:00Z'].map(
        followed_at => ({ type: 'follow', user_id: '2', broadcaster_id: '1', followed_at }),
      )
      for (const _ of [1, 2]) {
        await imported(station, textOf(follows))
        expect(await linesOf(station, 'follow')).toEqual(follows.slice(-1))
      }
    }))

  test('of a relation whose time is only in the later line, that time counts', () =>
    onStation(async station => {
      await imported(station, textOf([user('1'), user('2')]))
      const time = '2020-01-01T00:00:00Z'
      const follow = { type: 'follow', user_id: '2', broadcaster_id: '1' }
      const editor = { type: 'editor', user_id: '1', editor_id: '2' }
      const dated = [
        { ...editor, created_at: time },
        { ...follow, followed_at: time },
      ]
      const lines = textOf([editor, dated[0] ?? {}, follow, dated[1] ?? {}])
      for (const _ of [1, 2]) {
        await imported(station, lines)
        expect([...(await linesOf(station, 'editor')), ...(await linesOf(station, 'follow'))]).toEqual(dated)
      }
    }))

  test('a channel line with tags that break the rule is refused before anything changes (D-80)', () =>
    onStation(async station => {
      const bad = channel('1', { tags: ['two words'] })
      await expect(imported(station, textOf([user('1'), bad]))).rejects.toThrow(
        'line 2: the field "tags" was malformed: the tag "two words" must be 1 to 25 letters or digits',
      )
      expect(await exported(station)).toBe('')
    }))

  test('more than 1,000 editors of a channel are refused, wherever they are in the file (D-85)', () =>
    onStation(async station => {
      const ids = Array.from({ length: MAX_EDITORS + 2 }, (_, index) => String(100 + index))
      await imported(station, textOf([user('1'), user('2'), ...ids.map(id => user(id))]))
      const editors = ids.map(editor_id => ({ type: 'editor', user_id: '1', editor_id }))
      const others = ids.map(editor_id => ({ type: 'editor', user_id: '2', editor_id })).slice(0, 900)
      const why = 'the channel of the user "1" has 1000 editors already'
      const scattered = [...editors.slice(0, 600), ...editors.slice(0, 600), ...others, ...editors.slice(600)]
      await expect(imported(station, textOf(scattered))).rejects.toThrow(`line 2501: ${why}`)
      expect(await linesOf(station, 'editor')).toEqual([])

      // Of users a batch has few: the later editors are checked when the earlier ones are in the store.
      const batches = [...editors.slice(0, 600), ...ids.slice(0, 600).map(id => user(id))]
      const lines = textOf([...batches, ...editors.slice(600, 700)])
      expect(await imported(station, lines, { continues: true })).toMatchObject({
        skipped: 0,
        types: { editor: { created: 700 } },
      })
      await imported(station, textOf(editors.slice(0, MAX_EDITORS)))
      await expect(imported(station, textOf(editors.slice(-1)))).rejects.toThrow(`line 1: ${why}`)
      const skipping = await imported(station, textOf(editors), { continues: true })
      expect(skipping.types.editor).toEqual(unchanged(MAX_EDITORS))
      expect(await linesOf(station, 'editor')).toHaveLength(MAX_EDITORS)
    }))
})
