import { describe, expect, test } from 'bun:test'
import { isoMillis, isoSeconds } from '../../src/kit/time/clock.ts'
import { sweepExpired } from '../../src/maintenance/sweep-expired.ts'
import { engines } from '../support/server.ts'
import { anyStreamKey, openTestStore } from '../support/store/stores.ts'

const DAY = 24 * 3600 * 1000
const NOW = Date.parse('2026-03-01T12:00:00.000Z')
const times = { now: NOW, settled: NOW }
const FOR_EVER = { videosDays: 0, progressDays: 0, tokensDays: 0, eventsDays: 0, auditDays: 0 }
const never = { removed: () => undefined, wantsToStop: () => false }

type Store = Awaited<ReturnType<typeof openTestStore>>['store']

/** A stream with a marker that ran between two moments, so many days ago; still running if it has no end. */
async function stream(store: Store, id: string, began: number, ended: number | undefined): Promise<void> {
  const { commands } = store
  await commands.putUser({ id, login: `user${id}`, stream_key: anyStreamKey(id), now: NOW })
  await commands.startStream({
    user_id: id,
    stream_id: `1${id}`,
    video_id: `2${id}`,
    started_at: isoSeconds(NOW - began * DAY),
  })
  await commands.createMarker({
    marker_id: `marker${id}`,
    broadcaster_id: id,
    caller: { client_id: 'c', user_id: id },
    description: '',
    now: NOW - began * DAY + 1000,
  })
  if (ended !== undefined) await commands.endStream({ user_id: id, now: NOW - ended * DAY })
}

for (const engine of engines) {
  describe(`what is kept on ${engine}`, () => {
    test('videos are kept for ever, or for so many days after their stream ended, and never less while it runs', async () => {
      const { store, close } = await openTestStore(engine)
      try {
        await stream(store, '1', 90, 60)
        await stream(store, '2', 90, 5)
        await stream(store, '3', 90, undefined)
        await stream(store, '4', 3, 2)
        const left = async () => {
          const found = await Promise.all(['1', '2', '3', '4'].map(id => store.videos.find(`2${id}`)))
          return found.filter(video => video !== undefined).map(video => video.user_id)
        }
        await sweepExpired(store, times, FOR_EVER, never)
        expect(await left()).toEqual(['1', '2', '3', '4'])
        await sweepExpired(store, times, { ...FOR_EVER, videosDays: 30 }, never)
        expect(await left()).toEqual(['2', '3', '4'])
        const window = { first: 10, direction: 'forward' as const }
        expect((await store.markers.ofVideo('21', window)).rows).toEqual([])
        expect((await store.markers.ofVideo('22', window)).rows).toHaveLength(1)
        await sweepExpired(store, times, { ...FOR_EVER, videosDays: 1 }, never)
        expect(await left()).toEqual(['3'])
      } finally {
        await close()
      }
    })

    test('many are removed batch by batch, and not at all once a stop is requested', async () => {
      const { store, close } = await openTestStore(engine)
      try {
        for (let first = 1000; first < 1250; first += 25) {
          const ids = Array.from({ length: 25 }, (_, n) => String(first + n))
          await Promise.all(ids.map(id => stream(store, id, 90, 60)))
        }
        const before = isoMillis(NOW - 30 * DAY)
        await sweepExpired(
          store,
          times,
          { ...FOR_EVER, videosDays: 30 },
          { ...never, wantsToStop: () => true },
        )
        expect(await store.commands.forgetVideos({ before })).toBe(100)
        await sweepExpired(store, times, { ...FOR_EVER, videosDays: 30 }, never)
        expect(await store.commands.forgetVideos({ before })).toBe(0)
        expect(await store.videos.find('21249')).toBeUndefined()
      } finally {
        await close()
      }
    })

    test('a video does not end before it began, though the clock was set back meanwhile', async () => {
      const { store, close } = await openTestStore(engine)
      try {
        await stream(store, '1', 1, 2)
        const began = isoSeconds(NOW - DAY)
        expect(await store.videos.inFull('21')).toMatchObject({ created_at: began, ended_at: began })
      } finally {
        await close()
      }
    })

    test('rows of the audit log are kept for so many days, and the rest of the chain is whole', async () => {
      const { store, close } = await openTestStore(engine)
      try {
        for (const [n, daysAgo] of [40, 35, 20, 1].entries()) {
          const at = isoMillis(NOW - daysAgo * DAY)
          const author = { actor: 'operator', operation: 'PutOrganization', chain: 'operator', at }
          await store.as(author).commands.putOrganization({ id: `o${n}`, name: `Organization ${n}` })
        }
        const left = async () => {
          const { rows } = await store.audit.page({}, { first: 10, direction: 'forward' })
          return rows.map(row => row.subject)
        }
        await sweepExpired(store, times, FOR_EVER, never)
        expect(await left()).toHaveLength(4)
        await sweepExpired(store, times, { ...FOR_EVER, auditDays: 30 }, never)
        expect(await left()).toEqual(['organization/o3', 'organization/o2'])
        expect(await store.audit.verify()).toMatchObject({
          rows: 2,
          beginnings: [{ chain: 'operator', seq: 3 }],
        })
        // Without retention nothing removes rows: a beginning that was moved hides what is gone.
        expect(await store.audit.verify(undefined, [], { keepsAll: true })).toEqual({
          flaw: {
            chain: 'operator',
            seq: 3,
            why: 'it is the first, and no retention has removed those before it',
          },
        })
      } finally {
        await close()
      }
    })

    test('the record of a token is kept for so many days after it ran out', async () => {
      const { store, close } = await openTestStore(engine)
      try {
        const owners = { organization_id: null, owner_user_id: null }
        await store.commands.createClient({
          client: {
            id: 'c',
            name: 'c',
            kind: 'confidential',
            redirect_uris: [],
            implicit_grant: false,
            ...owners,
          },
          secret_hash: null,
        })
        const token = (hash: string, daysAgo: number) => ({
          hash,
          kind: 'app' as const,
          client_id: 'c',
          user_id: null,
          scopes: [],
          family: hash,
          expires_at: isoMillis(NOW - daysAgo * DAY),
        })
        await store.commands.issueTokens({ tokens: [token('old', 20), token('fresh', 3), token('good', -1)] })
        const left = async () => {
          const hashes = ['old', 'fresh', 'good']
          const found = await Promise.all(hashes.map(hash => store.tokens.find(hash)))
          return hashes.filter((_, index) => found[index] !== undefined)
        }
        await sweepExpired(store, times, { ...FOR_EVER, tokensDays: 10 }, never)
        expect(await left()).toEqual(['fresh', 'good'])
        await sweepExpired(store, times, FOR_EVER, never)
        expect(await left()).toEqual(['good'])
      } finally {
        await close()
      }
    })
  })
}
