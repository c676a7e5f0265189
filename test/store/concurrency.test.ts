import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { isRefusal, refuse } from '../../src/contract/problem.ts'
import { Unavailable } from '../../src/store/errors.ts'
import type { Store } from '../../src/store/store.ts'
import { engines } from '../support/server.ts'
import { anyStreamKey, openTestStore } from '../support/store/stores.ts'

const NOW = Date.parse('2026-03-01T12:00:00.000Z')
const organization_id = '00000000-0000-4000-8000-0000000000a0'
const benefit_id = '00000000-0000-4000-8000-0000000000b0'
const idOf = (n: number) => `00000000-0000-4000-8000-${n.toString(16).padStart(12, '0')}`

for (const engine of engines) {
  describe(`writers that meet, on ${engine}`, () => {
    let opened: Awaited<ReturnType<typeof openTestStore>>
    let store: Store
    beforeAll(async () => {
      opened = await openTestStore(engine)
      store = opened.store
      const { commands } = store
      await commands.putOrganization({ id: organization_id, name: 'One' })
      await commands.putGame({ id: '1', name: 'Game', organization_id })
      await commands.putBenefit({ id: benefit_id, name: 'Benefit', organization_id })
      for (const id of ['1', '2', '3']) {
        await commands.putUser({ id, login: `user${id}`, stream_key: anyStreamKey(id), now: NOW })
      }
      const grants = Array.from({ length: 100 }, (_, n) => ({
        id: idOf(n),
        user_id: '1',
        benefit_id,
        game_id: '1',
        timestamp: new Date(NOW).toISOString(),
        timestampGiven: true,
      }))
      await commands.grantEntitlements({ grants })
    })
    afterAll(() => opened.close())

    test('the same ids in opposite order neither block nor mix', async () => {
      const ids = Array.from({ length: 100 }, (_, n) => idOf(n))
      const update = (order: readonly string[], round: number) =>
        store.commands.updateEntitlements({
          ids: order,
          fulfillment_status: round % 2 === 0 ? 'FULFILLED' : 'CLAIMED',
          reach: { organization_id },
          failing: [],
          now: NOW + round,
        })
      // More than may wait at a time: a caller that is refused comes back.
      const untilDone = async (order: readonly string[], round: number): ReturnType<typeof update> => {
        try {
          return await update(order, round)
        } catch (error) {
          if (!(error instanceof Unavailable)) throw error
          return untilDone(order, round)
        }
      }
      const rounds = Array.from({ length: 80 }, (_, round) =>
        untilDone(round % 3 === 0 ? ids.toReversed() : ids, round),
      )
      for (const groups of await Promise.all(rounds))
        expect(groups.map(group => group.status)).toEqual(['SUCCESS'])
      const page = await store.entitlements.page({ organization_id }, { first: 100, direction: 'forward' })
      expect(new Set(page.rows.map(row => row.fulfillment_status)).size).toBe(1)
      expect(new Set(page.rows.map(row => row.last_updated)).size).toBe(1)
    })

    test('one idempotency key sent by many at once makes one marker', async () => {
      await store.commands.startStream({
        user_id: '1',
        stream_id: '10',
        video_id: '20',
        started_at: '2026-03-01T12:00:00Z',
      })
      const create = (n: number) =>
        store.commands.createMarker({
          marker_id: n.toString(16).padStart(32, '0'),
          broadcaster_id: '1',
          description: 'once',
          caller: { client_id: 'client', user_id: '1' },
          idempotency: { key: 'the-key', fingerprint: 'same' },
          now: NOW + 5000,
        })
      const results = await Promise.all(Array.from({ length: 20 }, (_, n) => create(n)))
      expect(new Set(results.map(result => JSON.stringify(result))).size).toBe(1)
      const markers = await store.markers.ofVideo('20', { first: 100, direction: 'forward' })
      expect(markers.rows).toHaveLength(1)
    })

    test('one login taken by many at once goes to one', async () => {
      const results = await Promise.all(
        Array.from({ length: 10 }, (_, n) =>
          store.commands.putUser({
            id: String(100 + n),
            login: 'contested',
            stream_key: anyStreamKey(`c${n}`),
            now: NOW,
          }),
        ),
      )
      const refused = results.filter(isRefusal)
      expect(refused).toEqual(Array(9).fill(refuse('taken', 'login', 'contested')))
    })

    test('the feed has no gap and keeps the order of commits', async () => {
      const before = (await store.feed.head()).seq
      await Promise.all(
        Array.from({ length: 60 }, async (_, n) => {
          const user_id = String((n % 2) + 2)
          const started_at = '2026-03-01T12:00:00Z'
          await store.commands.startStream({
            user_id,
            stream_id: String(1000 + n),
            video_id: String(2000 + n),
            started_at,
          })
          await store.commands.endStream({ user_id, now: NOW })
        }),
      )
      const entries = await store.feed.after(before, 1000)
      expect(entries.map(entry => entry.seq)).toEqual(entries.map((_, n) => before + 1 + n))
      expect(entries.slice(1).map(entry => entry.previous)).toEqual(
        entries.slice(0, -1).map(entry => entry.nonce),
      )
      const running = new Map<string, string>()
      for (const { change } of entries) {
        if (change.kind === 'stream') {
          expect(running.get(change.stream.user_id) ?? change.stream.id).toBe(change.stream.id)
          running.set(change.stream.user_id, change.stream.id)
        } else if (change.kind === 'end') {
          expect(running.get(change.user_id)).toBe(change.stream_id)
          running.delete(change.user_id)
        }
      }
      for (const id of ['2', '3']) expect((await store.streams.of(id))?.id).toBe(running.get(id) as string)
    })

    const beside: Record<string, (user_id: string, n: number) => Promise<unknown>> = {
      'a channel change': (user_id, n) =>
        store.commands.changeChannel({ user_id, title: `title ${n}`, video_id: String(5000 + n) }),
      'a rename': (user_id, n) =>
        store.commands.putUser({
          id: user_id,
          display_name: `Name ${n}`,
          stream_key: anyStreamKey('kept'),
          now: NOW,
        }),
      'a viewer report': (user_id, n) => store.commands.reportViewers({ counts: [[user_id, n]] }),
      'a second start': (user_id, n) => startOf(user_id, 6000 + n, n),
    }
    const startOf = (user_id: string, n: number, viewer_count = 0) =>
      store.commands.startStream({
        user_id,
        stream_id: String(n),
        video_id: String(n),
        started_at: '2026-03-01T12:00:00Z',
        viewer_count,
      })
    for (const [title, change] of Object.entries(beside)) {
      test(`a stream that ends beside ${title} leaves no ghost in the feed`, async () => {
        const before = (await store.feed.head()).seq
        for (let n = 0; n < 25; n++) {
          await startOf('3', 100_000 * Object.keys(beside).indexOf(title) + 10_000 + n)
          await Promise.all([
            change('3', n),
            store.commands.endStream({ user_id: '3', now: NOW }),
            change('3', n + 1000),
          ])
          await store.commands.endStream({ user_id: '3', now: NOW })
        }
        const live = new Map<string, number>()
        for (let seq = before; ; ) {
          const entries = await store.feed.after(seq, 500)
          if (entries.length === 0) break
          for (const { change: each } of entries) {
            if (each.kind === 'stream') {
              expect(each.was).toBe(live.get(each.stream.id) ?? null)
              live.set(each.stream.id, each.stream.viewer_count)
            } else if (each.kind === 'end') live.delete(each.stream_id)
            else if (each.kind === 'viewers') {
              for (const [place, id] of each.stream_ids.entries()) {
                expect(each.was[place]).toBe(live.get(id) as number)
                live.set(id, each.viewers[place] as number)
              }
            }
          }
          seq = entries.at(-1)?.seq ?? seq
        }
        expect([...live]).toEqual([])
      })
    }

    test('a user deleted while going live leaves no ghost', async () => {
      const before = (await store.feed.head()).seq
      for (let n = 0; n < 20; n++) {
        const id = String(70_000 + n)
        await store.commands.putUser({ id, login: `leaving${n}`, stream_key: anyStreamKey(id), now: NOW })
        await Promise.all([startOf(id, 700_000 + n), store.commands.deleteUser({ id, now: NOW })])
        await store.commands.deleteUser({ id, now: NOW })
      }
      const live = new Set<string>()
      for (const { change } of await store.feed.after(before, 1000)) {
        if (change.kind === 'stream') live.add(change.stream.id)
        if (change.kind === 'end') live.delete(change.stream_id)
      }
      expect([...live]).toEqual([])
    })

    const createPublicClient = (id: string) =>
      store.commands.createClient({
        client: {
          id,
          name: 'N',
          organization_id: null,
          owner_user_id: null,
          kind: 'public',
          redirect_uris: [],
          implicit_grant: false,
        },
        secret_hash: null,
      })

    test('two changes of one client keep both', async () => {
      await createPublicClient('both')
      for (let n = 0; n < 20; n++) {
        const [name, redirect_uris] = [`name ${n}`, [`http://localhost/${n}`]]
        await Promise.all([
          store.commands.changeClient({ id: 'both', name }),
          store.commands.changeClient({ id: 'both', redirect_uris }),
        ])
        expect(await store.clients.find('both')).toMatchObject({ name, redirect_uris })
      }
      await store.commands.deleteClient({ id: 'both' })
    })

    test('a refresh token used twice at once ends its family; a revocation beside a use wins', async () => {
      await createPublicClient('app')
      const later = new Date(NOW + 60_000).toISOString()
      const token = (hash: string) => ({
        hash,
        kind: 'refresh' as const,
        client_id: 'app',
        user_id: '1',
        scopes: [],
        family: hash,
        expires_at: later,
      })
      const use = (hash: string, n: string) =>
        store.commands.useRefreshToken({
          hash,
          client_id: 'app',
          now: new Date(NOW).toISOString(),
          access: { hash: `${hash} access ${n}`, expires_at: later },
          refresh: { hash: `${hash} refresh ${n}`, expires_at: later },
        })
      const survivors = async (hash: string) => {
        const names = [`${hash} access 1`, `${hash} refresh 1`, `${hash} access 2`, `${hash} refresh 2`]
        const rows = await Promise.all(names.map(name => store.tokens.find(name)))
        return rows.filter(row => row !== undefined).length
      }
      for (let n = 0; n < 15; n++) {
        await store.commands.issueTokens({ tokens: [token(`twice ${n}`), token(`ended ${n}`)] })
        await Promise.all([use(`twice ${n}`, '1'), use(`twice ${n}`, '2')])
        expect(await survivors(`twice ${n}`)).toBe(0)
        await Promise.all([use(`ended ${n}`, '1'), store.commands.revokeToken({ hash: `ended ${n}` })])
        expect(await survivors(`ended ${n}`)).toBe(0)
      }
      await store.commands.deleteClient({ id: 'app' })
    })

    test('keys are ordered byte by byte', async () => {
      for (const name of ['b', 'B', 'a', 'A', '_', '0']) {
        await store.commands.createClient({
          client: {
            id: name,
            name,
            organization_id: null,
            owner_user_id: null,
            kind: 'public',
            redirect_uris: [],
            implicit_grant: false,
          },
          secret_hash: null,
        })
      }
      const page = await store.clients.page({}, { first: 100, direction: 'forward' })
      expect(page.rows.map(row => row.id)).toEqual(['0', 'A', 'B', '_', 'a', 'b'])
    })

    test('a command that fails inside a group leaves the others alone', async () => {
      const [good, bad, alsoGood] = await Promise.allSettled([
        store.commands.setFact({ name: 'first', value: '1' }),
        store.commands.runSteps({
          steps: [
            ['setFact', { name: 'half', value: '1' }],
            ['putGame', { id: '77' }],
          ],
        }),
        store.commands.setFact({ name: 'second', value: '1' }),
      ])
      expect([good?.status, bad?.status, alsoGood?.status]).toEqual(['fulfilled', 'rejected', 'fulfilled'])
      expect(await store.facts.find('half')).toBeUndefined()
      expect(await store.facts.find('second')).toBe('1')
    })

    test('a command that is refused inside a group leaves the others alone, and nothing of itself', async () => {
      const before = (await store.feed.head()).seq
      const [, named, gone, end] = await Promise.all([
        store.commands.setFact({ name: 'beside a refusal', value: '1' }),
        store.commands.putGame({ id: '78', organization_id: 'none' }),
        store.commands.putMember({ organization_id: 'none', user_id: '2' }),
        store.commands.endStream({ user_id: '999', now: NOW }),
        store.commands.setFact({ name: 'behind a refusal', value: '1' }),
      ])
      expect([named, gone, end]).toEqual([
        refuse('missing_parameter', 'name'),
        refuse('not_found', 'organization', 'none'),
        refuse('not_found', 'channel', '999'),
      ])
      expect(structuredClone(named)).toEqual(named)
      expect(await store.games.find('78')).toBeUndefined()
      expect((await store.feed.head()).seq).toBe(before)
      expect(await store.facts.find('beside a refusal')).toBe('1')
      expect(await store.facts.find('behind a refusal')).toBe('1')
    })

    test('sweeping removes what has run out and nothing else', async () => {
      const token = (hash: string, expires: number) => ({
        hash,
        kind: 'app' as const,
        client_id: 'a',
        user_id: null,
        scopes: [],
        family: hash,
        expires_at: new Date(expires).toISOString(),
      })
      await store.commands.issueTokens({ tokens: [token('old', NOW - 1), token('new', NOW + 60_000)] })
      while ((await store.commands.sweep({ now: NOW, settled: NOW })) > 0);
      expect(await store.tokens.find('old')).toBeUndefined()
      expect(await store.tokens.find('new')).toBeDefined()
    })
  })
}
