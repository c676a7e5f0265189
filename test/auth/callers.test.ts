import { describe, expect, test } from 'bun:test'
import { Callers, cachedCaller, resolveCaller } from '../../src/auth/callers.ts'
import { SiteTokens } from '../../src/auth/site-tokens.ts'
import { hashToken, issueAppToken, issueUserToken } from '../../src/auth/tokens.ts'
import type { Caller } from '../../src/domain/caller.ts'
import { KeyRing } from '../../src/kit/crypto/key-ring.ts'
import { createLog } from '../../src/kit/telemetry/log.ts'
import { FeedFollower } from '../../src/store/follower.ts'
import type { Store } from '../../src/store/store.ts'
import { engines } from '../support/server.ts'
import { anyStreamKey, openTestStore } from '../support/store/stores.ts'

const NOW = Date.parse('2026-03-01T12:00:00.000Z')
const lifetimes = { user_seconds: 60, refresh_seconds: 600 }

async function follow(store: Store) {
  const callers = new Callers(store, new SiteTokens(new KeyRing([{ id: 'k', bytes: new Uint8Array(32) }])))
  const follower = new FeedFollower(store, [callers], createLog({ level: 'silent', readable: false }))
  await follower.catchUp()
  return { callers, follower }
}

for (const engine of engines) {
  describe(`callers from memory on ${engine}`, () => {
    const withTokens = async (
      work: (store: Store, tokens: { app: string; user: string; refresh: string }) => Promise<void>,
    ) => {
      const { store, close } = await openTestStore(engine)
      const client = {
        id: 'c',
        name: 'C',
        organization_id: null,
        owner_user_id: null,
        kind: 'public' as const,
        redirect_uris: [],
        implicit_grant: false,
      }
      await store.commands.createClient({ client, secret_hash: null })
      await store.commands.putUser({ id: '1', login: 'one', stream_key: anyStreamKey('1'), now: NOW })
      const app = issueAppToken('c', NOW, 60)
      const user = issueUserToken({ client_id: 'c', user_id: '1', scopes: ['a:b'] }, NOW, lifetimes)
      await store.commands.issueTokens({ tokens: [...app.rows, ...user.rows] })
      try {
        const { access_token, refresh_token = '' } = user.answer
        await work(store, { app: app.answer.access_token, user: access_token, refresh: refresh_token })
      } finally {
        await close()
      }
    }

    test('a token is found once in the store, then in memory, until it ends', () =>
      withTokens(async (store, { app, user }) => {
        let asked = 0
        const find: Store['tokens']['find'] = hash => {
          asked += 1
          return store.tokens.find(hash)
        }
        const { callers } = await follow({ ...store, tokens: { ...store.tokens, find } })
        for (let n = 0; n < 5; n++)
          expect((await callers.find(user, NOW))?.caller).toMatchObject({ kind: 'user', login: 'one' })
        expect((await callers.find(app, NOW))?.caller).toEqual({
          kind: 'app',
          client_id: 'c',
          organization_id: null,
        })
        expect(asked).toBe(2)
        expect(await callers.find(user, NOW + 60_000)).toBeUndefined()
      }))

    test('what is in memory is found without the store, until it ends or is revoked', () =>
      withTokens(async (store, { user }) => {
        const { callers } = await follow(store)
        const clock = { now: () => NOW }
        expect(callers.cached(user, NOW)).toBeUndefined()
        const caller = await resolveCaller(callers, `Bearer ${user}`, clock)
        expect(caller).toMatchObject({ kind: 'user', login: 'one' })
        expect(callers.cached(user, NOW)?.caller).toBe(caller as Caller)
        expect(cachedCaller(callers, `Bearer ${user}`, clock)).toBe(caller)
        expect(await resolveCaller(callers, `bearer  ${user}`, clock)).toBe(caller)
        expect(await resolveCaller(callers, `Bearer ${user} `, clock)).toBe('invalid')
        expect(callers.cached(user, NOW + 60_000)).toBeUndefined()
        await store.commands.revokeToken({ hash: hashToken(user) })
        expect(callers.cached(user, NOW)).toBeUndefined()
      }))

    const endings: Record<
      string,
      (store: Store, hashes: { user: string; refresh: string }) => Promise<unknown>
    > = {
      'the token is revoked': (store, { user }) => store.commands.revokeToken({ hash: user }),
      'its refresh token is revoked': (store, { refresh }) => store.commands.revokeToken({ hash: refresh }),
      'the client is deleted': store => store.commands.deleteClient({ id: 'c' }),
      'the user is deleted': store => store.commands.deleteUser({ id: '1', now: NOW }),
      'the password changes': async store => {
        const change = { id: '1', stream_key: anyStreamKey('x'), now: NOW }
        await store.commands.putUser({ ...change, password_hash: 'first' })
        await store.commands.putUser({ ...change, password_hash: 'second' })
      },
    }
    for (const [title, end] of Object.entries(endings)) {
      test(`when ${title}, the next look-up knows, also in another process`, () =>
        withTokens(async (store, { user, refresh }) => {
          const here = await follow(store)
          const elsewhere = await follow({ ...store, onChange: () => undefined })
          for (const { callers } of [here, elsewhere]) expect(await callers.find(user, NOW)).toBeDefined()
          await end(store, { user: hashToken(user), refresh: hashToken(refresh) })
          expect(await here.callers.find(user, NOW)).toBeUndefined()
          await elsewhere.follower.catchUp()
          expect(await elsewhere.callers.find(user, NOW)).toBeUndefined()
        }))
    }

    test('a renamed user and a moved client are seen as they are now', () =>
      withTokens(async (store, { user }) => {
        const { callers } = await follow(store)
        await callers.find(user, NOW)
        await store.commands.putUser({ id: '1', login: 'renamed', stream_key: anyStreamKey('x'), now: NOW })
        expect((await callers.find(user, NOW))?.login).toBe('renamed')
        const organization = { id: '00000000-0000-4000-8000-000000000001', name: 'O' }
        await store.commands.putOrganization(organization)
        await store.commands.changeClient({ id: 'c', organization_id: organization.id })
        expect((await callers.find(user, NOW))?.caller).toMatchObject({ organization_id: organization.id })
      }))

    test('a look-up that was under way during the revocation is not remembered', () =>
      withTokens(async (store, { user }) => {
        let during: (() => Promise<unknown>) | undefined
        const find: Store['tokens']['find'] = async hash => {
          const row = await store.tokens.find(hash)
          await during?.()
          return row
        }
        const { callers } = await follow({ ...store, tokens: { ...store.tokens, find } })
        during = () => store.commands.revokeToken({ hash: hashToken(user) })
        await callers.find(user, NOW)
        during = undefined
        expect(await callers.find(user, NOW)).toBeUndefined()
      }))
  })
}
