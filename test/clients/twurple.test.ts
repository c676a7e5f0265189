/**
 * A client library as it comes from npm, pointed at the server by its setting for a local one, through all seven
 * operations. What it needs and does not document (rate headers, absent cursors, 404 for a channel that is off) shows here.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { ApiClient, type HelixDropsEntitlementFilter, StreamNotLiveError } from '@twurple/api'
import {
  AppTokenAuthProvider,
  exchangeCode,
  exchangeDeviceCode,
  getAppToken,
  getTokenInfo,
  InvalidTokenError,
  RefreshingAuthProvider,
  refreshUserToken,
  revokeToken,
  StaticAuthProvider,
  startDeviceCodeFlow,
} from '@twurple/auth'
import type { Game } from '../../src/contract/resources/game.ts'
import { tokenOf } from '../operations/helix/callers.ts'
import { newChannel } from '../operations/helix/channels.ts'
import { newGame } from '../operations/helix/profiles.ts'
import { newVideo } from '../operations/helix/videos.ts'
import { allow, authorizeLink, CALLBACK, codeFor, loggedIn, register } from '../support/browser/consent.ts'
import { carried } from '../support/browser/person.ts'
import { engines, startTestServer, type TestServer } from '../support/server.ts'

const STREAMS = 230
const NO_FILTER = {} as HelixDropsEntitlementFilter
/** The library sends the Client-Id and a token with every call, so nothing is different in strict mode. */
const SERVERS = engines.flatMap(engine => [false, true].map(strict => ({ engine, strict })))

for (const { engine, strict } of SERVERS) {
  describe(`twurple on ${engine}${strict ? ' in strict mode' : ''}`, () => {
    let server: TestServer
    let app: ApiClient
    let before: string | undefined

    beforeAll(async () => {
      server = await startTestServer(engine, {
        streams: STREAMS,
        config: {
          strict,
          listen: { host: 'localhost', port: 0 },
          rateLimits: { app: 800, user: 800, anonymous: 800 },
        },
      })
      before = process.env.TWURPLE_MOCK_API_PORT
      process.env.TWURPLE_MOCK_API_PORT = new URL(server.url).port
      const { id, secret } = server.world.client
      app = new ApiClient({
        authProvider: new AppTokenAuthProvider(id, secret),
        logger: { minLevel: 'ERROR' },
      })
    })
    afterAll(async () => {
      if (before === undefined) delete process.env.TWURPLE_MOCK_API_PORT
      else process.env.TWURPLE_MOCK_API_PORT = before
      await server.stop()
    })

    const as = (person: { token: string }) =>
      new ApiClient({
        authProvider: new StaticAuthProvider(server.world.client.id, person.token),
        logger: { minLevel: 'ERROR' },
      })
    const validations = () => server.logLines.filter(line => line.includes('"ValidateToken"')).length

    describe('tokens', () => {
      test('an app token is granted for id and secret, and is distinguished from a user token', async () => {
        const { id, secret } = server.world.client
        const token = await getAppToken(id, secret)
        expect(token.accessToken).toMatch(/^sapp_/)
        expect(token.expiresIn).toBe(5_184_000)
        expect(token.refreshToken).toBeNull()
        const info = await getTokenInfo(token.accessToken, id)
        expect([info.clientId, info.userId, info.userName]).toEqual([id, null, null])
        expect(info.scopes).toEqual([])
      })

      test('a wrong secret is refused', async () => {
        const { id } = server.world.client
        await expect(getAppToken(id, 'wrong')).rejects.toThrow('invalid client secret')
      })

      test('a user token is described with its user and scopes', async () => {
        const { client, broadcaster, users } = server.world
        const info = await getTokenInfo(broadcaster.token, client.id)
        expect([info.userId, info.userName]).toEqual([broadcaster.id, broadcaster.login])
        expect(info.scopes.toSorted()).toEqual([...(users[0]?.scopes ?? [])].sort())
        expect(info.expiryDate?.getTime()).toBeGreaterThan(Date.now())
      })

      test('a user token is refreshed, and after its revocation it is invalid', async () => {
        const { client, viewer } = server.world
        const [issued] = await server.control('POST', '/tokens', {
          client_id: client.id,
          user_id: viewer.id,
          scopes: ['user:read:follows'],
        })
        const fresh = await refreshUserToken(client.id, client.secret, issued.refresh_token)
        expect(fresh.scope).toEqual(['user:read:follows'])
        await revokeToken(client.id, fresh.accessToken)
        await expect(getTokenInfo(fresh.accessToken, client.id)).rejects.toBeInstanceOf(InvalidTokenError)
      })

      test('a provider that refreshes gets over an access token that ended', async () => {
        const { client, viewer } = server.world
        const [issued] = await server.control('POST', '/tokens', {
          client_id: client.id,
          user_id: viewer.id,
          scopes: ['user:read:follows'],
        })
        const authProvider = new RefreshingAuthProvider({ clientId: client.id, clientSecret: client.secret })
        authProvider.addUser(viewer.id, {
          accessToken: issued.access_token,
          refreshToken: issued.refresh_token,
          scope: issued.scope,
          expiresIn: issued.expires_in,
          obtainmentTimestamp: Date.now(),
        })
        await server.control('DELETE', '/tokens', { token: issued.access_token })
        const followed = await new ApiClient({ authProvider }).streams.getFollowedStreams(viewer.id)
        expect(followed.data.length).toBeGreaterThan(0)
      })

      test('a code is exchanged, and used twice it takes the tokens with it', async () => {
        const { client, broadcaster } = server.world
        const code = await codeFor(server, client, { force_verify: 'true' })
        const token = await exchangeCode(client.id, client.secret, code, CALLBACK)
        expect(token.scope).toEqual(['user:read:follows', 'chat:read'])
        expect(token.expiresIn).toBe(14_400)
        const info = await getTokenInfo(token.accessToken, client.id)
        expect(info.userId).toBe(broadcaster.id)
        const again = exchangeCode(client.id, client.secret, code, CALLBACK)
        await expect(again).rejects.toThrow('Invalid authorization code')
        await expect(getTokenInfo(token.accessToken, client.id)).rejects.toBeInstanceOf(InvalidTokenError)
      })

      test('a provider takes a code, calls, refreshes by itself and notifies the application', async () => {
        const { client, broadcaster } = server.world
        const person = await loggedIn(server)
        const link = authorizeLink(client.id, { scope: 'channel:read:stream_key user:read:follows' })
        const code = carried((await allow(person, link)).location).get('code') ?? ''
        const authProvider = new RefreshingAuthProvider({
          clientId: client.id,
          clientSecret: client.secret,
          redirectUri: CALLBACK,
        })
        const refreshed: string[] = []
        authProvider.onRefresh((userId, token) => refreshed.push(userId, token.accessToken))
        expect(await authProvider.addUserForCode(code)).toBe(broadcaster.id)
        const api = new ApiClient({ authProvider, logger: { minLevel: 'ERROR' } })
        const key = await api.streams.getStreamKey(broadcaster.id)
        expect(key).toStartWith('live_')
        const held = await authProvider.getAccessTokenForUser(broadcaster.id)
        await revokeToken(client.id, held?.accessToken ?? '')
        expect(await api.streams.getStreamKey(broadcaster.id)).toBe(key)
        expect(refreshed[0]).toBe(broadcaster.id)
        expect(refreshed[1]).toMatch(/^susr_/)
      })

      test('a public client goes through the device flow without a secret, and refreshes', async () => {
        const { id } = await register(server, { kind: 'public', name: 'Console' })
        const scopes = ['user:read:follows']
        const flow = await startDeviceCodeFlow(id, scopes)
        expect([flow.expiresIn, flow.interval, flow.userCode.length]).toEqual([1800, 5, 8])
        const early = exchangeDeviceCode(id, flow.deviceCode, scopes)
        await expect(early).rejects.toThrow('authorization_pending')
        const person = await loggedIn(server)
        const { pathname, search } = new URL(flow.verificationUri)
        await person.browse(pathname + search)
        await person.submit('/activate', { decision: 'allow' })
        const token = await exchangeDeviceCode(id, flow.deviceCode, scopes)
        const next = await refreshUserToken(id, undefined, token.refreshToken ?? '')
        expect(next.refreshToken).not.toBe(token.refreshToken)
        await revokeToken(id, next.accessToken)
        await expect(getTokenInfo(next.accessToken, id)).rejects.toBeInstanceOf(InvalidTokenError)
      })

      test('a scope that the token lacks is found by validation, before the call', async () => {
        const { client, broadcaster } = server.world
        const [issued] = await server.control('POST', '/tokens', {
          client_id: client.id,
          user_id: broadcaster.id,
          scopes: ['user:read:follows'],
        })
        const limited = as({ token: issued.access_token })
        await expect(limited.streams.getStreamKey(broadcaster.id)).rejects.toThrow('channel:read:stream_key')
      })
    })

    describe('GetStreams', () => {
      test('the async iterator walks every page and ends', async () => {
        const seen: string[] = []
        let viewers = Number.POSITIVE_INFINITY
        for await (const stream of app.streams.getStreamsPaginated()) {
          seen.push(stream.id)
          expect(stream.viewers).toBeLessThanOrEqual(viewers)
          viewers = stream.viewers
          expect(stream.type).toBe('live')
          expect(stream.startDate.getTime()).toBeLessThanOrEqual(Date.now())
          expect(stream.getThumbnailUrl(320, 180)).toContain('320x180')
          expect(stream.tags).toBeArray()
          expect(stream.isMature).toBeBoolean()
        }
        expect(seen).toHaveLength(STREAMS)
        expect(new Set(seen).size).toBe(STREAMS)
      })

      test('getAll gives the same; one page can be asked for with its cursor', async () => {
        expect(await app.streams.getStreamsPaginated().getAll()).toHaveLength(STREAMS)
        const first = await app.streams.getStreams({ limit: 2 })
        const second = await app.streams.getStreams({ limit: 2, after: first.cursor as string })
        const four = await app.streams.getStreams({ limit: 4 })
        expect([...first.data, ...second.data].map(each => each.id)).toEqual(four.data.map(each => each.id))
      })

      test('filters by game, language and type', async () => {
        const { game } = server.world
        const played = await app.streams.getStreamsPaginated({ game: game.id, type: 'live' }).getAll()
        expect(played.length).toBeGreaterThan(0)
        expect(played.every(stream => stream.gameId === game.id)).toBe(true)
        const german = await app.streams.getStreamsPaginated({ language: 'de' }).getAll()
        expect(german.length).toBeGreaterThan(0)
        expect(german.every(stream => stream.language === 'de')).toBe(true)
      })

      test('one user by id or login, and none who is offline', async () => {
        const { broadcaster, offline } = server.world
        expect((await app.streams.getStreamByUserId(broadcaster.id))?.userName).toBe(broadcaster.login)
        expect((await app.streams.getStreamByUserName(broadcaster.login))?.userId).toBe(broadcaster.id)
        expect(await app.streams.getStreamByUserId(offline.id)).toBeNull()
      })

      test('a batch of 100 ids or logins comes whole', async () => {
        const all = await app.streams.getStreamsPaginated().getAll()
        const ids = all.slice(0, 100).map(stream => stream.userId)
        expect(await app.streams.getStreamsByUserIds(ids)).toHaveLength(100)
        const names = all.slice(100, 200).map(stream => stream.userName)
        expect(await app.streams.getStreamsByUserNames(names)).toHaveLength(100)
      })

      test('150 batched look-ups are answered, each with its stream', async () => {
        const all = await app.streams.getStreamsPaginated().getAll()
        const wanted = all.slice(0, 149).map(stream => stream.userId)
        const { streams } = app
        const found = await Promise.all(
          [...wanted, server.world.offline.id].map(id => streams.getStreamByUserIdBatched(id)),
        )
        expect(found.map(stream => stream?.userId ?? null)).toEqual([...wanted, null])
        const names = all.slice(0, 30).map(stream => stream.userName)
        const named = await Promise.all(names.map(name => streams.getStreamByUserNameBatched(name)))
        expect(named.map(stream => stream?.userName ?? null)).toEqual(names)
      })

      // The store has no part in it, and the pauses take seconds.
      if (engine === 'sqlite')
        test('an empty bucket is waited for and a short outage is ridden out', async () => {
          for (const outcome of ['rate_limited', 'unavailable']) {
            await server.control('POST', '/faults', { operation: 'GetStreams', outcome })
            expect((await app.streams.getStreams({ limit: 1 })).data).toHaveLength(1)
          }
        })
    })

    describe('users', () => {
      test('by id and by name; the user and the game of a stream', async () => {
        const { broadcaster } = server.world
        const byName = await app.users.getUserByName(broadcaster.login.toUpperCase())
        expect([byName?.id, byName?.name]).toEqual([broadcaster.id, broadcaster.login])
        const byId = await app.users.getUserById(broadcaster.id)
        expect(byId?.creationDate.getTime()).toBeGreaterThan(0)
        expect([byId?.type, byId?.broadcasterType, byId?.offlinePlaceholderUrl]).toEqual(['', 'partner', ''])
        expect(byId?.profilePictureUrl).toEndWith(`/images/users/${broadcaster.id}-300x300.png`)
        const stream = await byName?.getStream()
        expect((await stream?.getUser())?.id).toBe(broadcaster.id)
        expect((await stream?.getGame())?.id).toBe(stream?.gameId ?? '')
        expect(await app.users.getUserByName('no_such_login')).toBeNull()
        const odd = app.users.getUserById('not an id')
        if (strict) await expect(odd).rejects.toMatchObject({ statusCode: 400 })
        else expect(await odd).toBeNull()
      })

      test('a hundred at once by id and by name, and none that does not exist', async () => {
        const { data } = await app.streams.getStreams({ limit: 100 })
        const ids = data.map(stream => stream.userId)
        expect((await app.users.getUsersByIds(ids)).map(user => user.id)).toEqual(ids)
        const names = data.slice(0, 99).map(stream => stream.userName)
        const found = await app.users.getUsersByNames([...names, 'no_such_login'])
        expect(found.map(user => user.name)).toEqual(names)
      })

      test('150 batched look-ups are answered, each with its user', async () => {
        const streams = await app.streams.getStreamsPaginated().getAll()
        const some = streams.slice(0, 150)
        const byId = await Promise.all(some.map(({ userId }) => app.users.getUserByIdBatched(userId)))
        expect(byId.map(user => user?.id)).toEqual(some.map(stream => stream.userId))
        const byName = await Promise.all(some.map(({ userName }) => app.users.getUserByNameBatched(userName)))
        expect(byName.map(user => user?.name)).toEqual(some.map(stream => stream.userName))
      })

      test('the own account, with the address only if it is asked for, and a new description', async () => {
        const { viewer } = server.world
        const own = await as(viewer).users.getAuthenticatedUser(viewer.id, true)
        expect(own.id).toBe(viewer.id)
        expect(typeof own.email).toBe('string')
        for (const description of ['Slow games & tea ☕', '']) {
          const changed = await as(viewer).users.updateAuthenticatedUser(viewer.id, { description })
          expect([changed.id, changed.description]).toEqual([viewer.id, description])
          expect((await app.users.getUserById(viewer.id))?.description).toBe(description)
        }
      })
    })

    describe('games', () => {
      test('by id, name and IGDB id, one at a time, many at once and batched', async () => {
        const made = []
        for (let n = 0; n < 3; n++)
          made.push(await newGame(server, { name: `Twurple's ${n} & more`, igdb_id: `4711${n}` }))
        const [game] = made as [Game, ...Game[]]
        const all = made.map(each => each.id)
        expect((await app.games.getGameById(game.id))?.name).toBe(game.name)
        expect((await app.games.getGameByName(game.name))?.id).toBe(game.id)
        expect((await app.games.getGameByIgdbId(game.igdb_id))?.id).toBe(game.id)
        expect(await app.games.getGameByName(game.name.toLowerCase())).toBeNull()
        const box = (await app.games.getGameById(game.id))?.getBoxArtUrl(52, 72)
        expect(box).toEndWith(`/images/games/${game.id}-52x72.png`)
        const idsOf = (games: ({ id: string } | null)[]) => games.map(each => each?.id)
        expect(idsOf(await app.games.getGamesByIds(all))).toEqual(all)
        expect(idsOf(await app.games.getGamesByNames(made.map(each => each.name)))).toEqual(all)
        expect(idsOf(await app.games.getGamesByIgdbIds(made.map(each => each.igdb_id)))).toEqual(all)
        const { games } = app
        expect(idsOf(await Promise.all(all.map(id => games.getGameByIdBatched(id))))).toEqual(all)
        const byName = made.map(({ name }) => games.getGameByNameBatched(name))
        const byIgdbId = made.map(({ igdb_id }) => games.getGameByIgdbIdBatched(igdb_id))
        expect(idsOf(await Promise.all(byName))).toEqual(all)
        expect(idsOf(await Promise.all(byIgdbId))).toEqual(all)
      })

      test('a search for categories is walked to its end', async () => {
        const names = Array.from({ length: 45 }, (_, n) => `Reefwalker ${String(n).padStart(2, '0')}`)
        for (const name of names) await newGame(server, { name })
        const found = await app.search.searchCategoriesPaginated('reefWALKER').getAll()
        expect(found.map(category => category.name)).toEqual(names)
        const page = await app.search.searchCategories('walker 44', { limit: 5 })
        expect(page.data.map(category => category.name)).toEqual(['Reefwalker 44'])
        expect((await app.search.searchCategories('no such category')).data).toEqual([])
      })
    })

    test('GetFollowedStreams: every followed live channel, page by page', async () => {
      const { viewer } = server.world
      const live = await app.streams.getStreamsPaginated().getAll()
      await server.control('POST', '/follows', {
        follows: live.map(stream => ({ user_id: viewer.id, broadcaster_id: stream.userId })),
      })
      const validated = validations()
      const seen: string[] = []
      for await (const stream of as(viewer).streams.getFollowedStreamsPaginated(viewer.id))
        seen.push(stream.id)
      expect(seen.toSorted()).toEqual(live.map(stream => stream.id).toSorted())
      // One validation before each of the three pages.
      expect(validations() - validated).toBe(3)
      const page = await as(viewer).streams.getFollowedStreams(viewer.id, { limit: 5 })
      expect(page.data.map(stream => stream.id)).toEqual(seen.slice(0, 5))
      expect(page.cursor).toBeString()
    })

    test('GetStreamKey: the key of the own channel, validated first', async () => {
      const { broadcaster } = server.world
      const validated = validations()
      const key = await as(broadcaster).streams.getStreamKey(broadcaster.id)
      expect(key).toMatch(new RegExp(`^live_${broadcaster.id}_[A-Za-z0-9]{30}$`))
      expect(validations() - validated).toBe(1)
    })

    describe('markers', () => {
      test('CreateStreamMarker: with and without a description, and by an editor', async () => {
        const { broadcaster, editor } = server.world
        const marker = await as(broadcaster).streams.createStreamMarker(broadcaster.id, 'the jump ✨')
        expect(marker.id).toMatch(/^[0-9a-f]{32}$/)
        expect(marker.description).toBe('the jump ✨')
        expect(marker.positionInSeconds).toBeGreaterThan(0)
        expect(Math.abs(marker.creationDate.getTime() - Date.now())).toBeLessThan(10_000)
        expect((await as(broadcaster).streams.createStreamMarker(broadcaster.id)).description).toBe('')
        const byEditor = await as(editor).streams.createStreamMarker(broadcaster.id, 'edited')
        expect(byEditor.description).toBe('edited')
      })

      test('CreateStreamMarker: StreamNotLiveError for a channel that is off, another error for no right', async () => {
        const { broadcaster, offline, viewer } = server.world
        await expect(as(offline).streams.createStreamMarker(offline.id)).rejects.toBeInstanceOf(
          StreamNotLiveError,
        )
        const stranger = as(viewer).streams.createStreamMarker(broadcaster.id)
        await expect(stranger).rejects.toMatchObject({ statusCode: 403 })
      })

      test('GetStreamMarkers: 100 made at once are all listed, by user and by video', async () => {
        const { broadcaster } = server.world
        const { streams } = as(broadcaster)
        const made = await Promise.all(
          Array.from({ length: 100 }, (_, n) => streams.createStreamMarker(broadcaster.id, `marker ${n}`)),
        )
        expect(new Set(made.map(marker => marker.id)).size).toBe(100)

        const listed: string[] = []
        let video = ''
        for await (const marker of streams.getStreamMarkersForUserPaginated(broadcaster.id)) {
          listed.push(marker.id)
          video = marker.videoId
          expect(marker.url).toContain(`/videos/${marker.videoId}?t=`)
        }
        expect(listed.length).toBeGreaterThanOrEqual(125)
        for (const marker of made) expect(listed).toContain(marker.id)

        const ofVideo = await streams.getStreamMarkersForVideoPaginated(broadcaster.id, video).getAll()
        expect(ofVideo.map(marker => marker.id)).toEqual(listed)
        const page = await streams.getStreamMarkersForUser(broadcaster.id, { limit: 7 })
        expect(page.data.map(marker => marker.id)).toEqual(listed.slice(0, 7))
        const next = await streams.getStreamMarkersForVideo(broadcaster.id, video, { limit: 7 })
        expect(next.data.map(marker => marker.id)).toEqual(listed.slice(0, 7))
        const back = await streams.getStreamMarkersForUser(broadcaster.id, {
          limit: 3,
          before: (
            await streams.getStreamMarkersForUser(broadcaster.id, { limit: 7, after: page.cursor as string })
          ).cursor as string,
        })
        expect(back.data.map(marker => marker.id)).toEqual(listed.slice(4, 7))
      })
    })

    describe('videos', () => {
      test('a marker leads to its video, with every value as it is meant', async () => {
        const { broadcaster } = server.world
        const [marker] = (await as(broadcaster).streams.getStreamMarkersForUser(broadcaster.id)).data
        const video = await marker?.getVideo()
        expect(video?.id).toBe(marker?.videoId)
        expect([video?.userId, video?.userName]).toEqual([broadcaster.id, broadcaster.login])
        expect((await video?.getUser())?.id).toBe(broadcaster.id)
        const stream = await app.streams.getStreamByUserId(broadcaster.id)
        expect([video?.streamId, video?.title, video?.language]).toEqual([
          stream?.id,
          stream?.title,
          stream?.language,
        ])
        expect(video?.creationDate).toEqual(stream?.startDate as Date)
        expect(video?.publishDate).toEqual(video?.creationDate)
        expect(video?.durationInSeconds).toBeGreaterThanOrEqual(marker?.positionInSeconds ?? 0)
        expect([video?.type, video?.isPublic, video?.views]).toEqual(['archive', true, 0])
        expect(video?.mutedSegmentData).toEqual([])
        expect(video?.isMutedAt(10)).toBe(false)
        expect(video?.thumbnailUrl).toContain('%{width}x%{height}')
        expect(video?.getThumbnailUrl(320, 180)).toContain('-320x180.png')
        expect((await fetch(video?.url ?? '')).status).toBe(200)
      })

      test('by user and by game, page by page, and one or many by id', async () => {
        const { id: user_id } = await newChannel(server)
        const [{ id: game_id }] = await server.control('POST', '/games', { name: 'Tidefall' })
        const made: string[] = []
        const started = Date.now() - 30 * 3_600_000
        for (let n = 0; n < 105; n++)
          made.unshift(
            await newVideo(server, { user_id, game_id, started: started + n * 1000, view_count: n }),
          )
        const { videos } = app
        const idsOf = (found: readonly { id: string }[]) => found.map(video => video.id)

        expect(idsOf(await videos.getVideosByUserPaginated(user_id).getAll())).toEqual(made)
        expect(idsOf(await videos.getVideosByGamePaginated(game_id).getAll())).toEqual(made)
        const first = await videos.getVideosByUser(user_id, { limit: 7, orderBy: 'views', type: 'archive' })
        expect(idsOf(first.data)).toEqual(made.slice(0, 7))
        const next = await videos.getVideosByGame(game_id, { limit: 5, period: 'month', language: 'en' })
        expect(idsOf(next.data)).toEqual(made.slice(0, 5))
        expect((await videos.getVideosByGame(game_id, { period: 'day' })).data).toEqual([])
        expect((await videos.getVideosByUser(user_id, { type: 'highlight' })).data).toEqual([])

        expect((await videos.getVideoById(made[3] ?? ''))?.id).toBe(made[3] ?? '')
        expect(idsOf(await videos.getVideosByIds(made.slice(0, 100).reverse()))).toEqual(
          made.slice(0, 100).reverse(),
        )
        const batched = await Promise.all([...made, '999'].map(id => videos.getVideoByIdBatched(id)))
        expect(batched.map(video => video?.id ?? null)).toEqual([...made, null])
        await expect(videos.getVideoById('999')).rejects.toMatchObject({ statusCode: 404 })
      })

      test('deleted by their owner, and by no other user', async () => {
        const { id: user_id, token } = await newChannel(server, ['channel:manage:videos'])
        const ids = [await newVideo(server, { user_id }), await newVideo(server, { user_id })]
        const { viewer, client } = server.world
        const stranger = await tokenOf(server, {
          client_id: client.id,
          user_id: viewer.id,
          scopes: ['channel:manage:videos'],
        })
        const refused = as({ token: stranger }).videos.deleteVideosByIds(viewer.id, ids)
        await expect(refused).rejects.toMatchObject({ statusCode: 401 })
        await as({ token }).videos.deleteVideosByIds(user_id, ids)
        expect(await app.videos.getVideosByUserPaginated(user_id).getAll()).toEqual([])
      })
    })

    describe('top games and search', () => {
      test('GetTopGames: one page, all pages, and the streams of a game', async () => {
        const page = await app.games.getTopGames({ limit: 3 })
        expect(page.data).toHaveLength(3)
        expect(page.cursor).toBeString()
        const all = await app.games.getTopGamesPaginated().getAll()
        expect(all.map(game => game.id).slice(0, 3)).toEqual(page.data.map(game => game.id))
        const streams = await app.streams.getStreamsPaginated().getAll()
        const played = new Set(streams.map(stream => stream.gameId).filter(Boolean))
        expect(new Set(all.map(game => game.id))).toEqual(played)
        const [top] = all
        expect(top?.name).toBe(streams.find(stream => stream.gameId === top?.id)?.gameName as string)
        expect(top?.getBoxArtUrl(285, 380)).toEndWith(`/images/games/${top?.id}-285x380.png`)
        expect((await top?.getStreams())?.data.length).toBeGreaterThan(0)
      })

      test('SearchChannels: every channel that fits, and only live ones', async () => {
        const { broadcaster } = server.world
        const [found] = (await app.search.searchChannels(broadcaster.login.toUpperCase())).data
        expect([found?.id, found?.name, found?.isLive]).toEqual([broadcaster.id, broadcaster.login, true])
        expect(found?.startDate?.getTime()).toBeLessThanOrEqual(Date.now())
        expect(found?.thumbnailUrl).toEndWith(`/images/users/${broadcaster.id}-300x300.png`)
        expect(found?.tags).toBeArray()
        const [offline] = await server.control('POST', '/users', { login: 'silent_wader' })
        const [silent] = (await app.search.searchChannels('silent_wader')).data
        expect([silent?.id, silent?.isLive, silent?.startDate]).toEqual([offline.id, false, null])
        const letter = broadcaster.login.slice(0, 1)
        const all = await app.search.searchChannelsPaginated(letter).getAll()
        const streams = await app.streams.getStreamsPaginated().getAll()
        const isLive = new Set(streams.map(stream => stream.userId))
        expect(all.every(channel => channel.isLive === isLive.has(channel.id))).toBe(true)
        const live = await app.search.searchChannelsPaginated(letter, { liveOnly: true }).getAll()
        const fitting = streams.filter(
          stream => stream.userName.startsWith(letter) || stream.gameName.toLowerCase().startsWith(letter),
        )
        expect(live.map(channel => channel.id).toSorted()).toEqual(
          fitting.map(stream => stream.userId).toSorted(),
        )
      })
    })

    describe('entitlements', () => {
      test('GetDropsEntitlements: every one of the organization, page by page, dates valid', async () => {
        const all = await app.entitlements.getDropsEntitlementsPaginated(NO_FILTER).getAll()
        expect(all).toHaveLength(120)
        expect(new Set(all.map(each => each.id)).size).toBe(120)
        for (const each of all) {
          expect(each.grantDate.getTime()).toBeGreaterThan(0)
          expect(each.updateDate.getTime()).toBeGreaterThanOrEqual(each.grantDate.getTime())
        }
      })

      test('an entitlement leads to its user and its game', async () => {
        const [entitlement] = (await app.entitlements.getDropsEntitlements(NO_FILTER)).data
        expect((await entitlement?.getUser())?.id).toBe(entitlement?.userId ?? '')
        expect((await entitlement?.getGame())?.id).toBe(entitlement?.gameId ?? '')
      })

      test('GetDropsEntitlements: filters, with an app token and with a user token', async () => {
        const { viewer, game } = server.world
        const done = await app.entitlements
          .getDropsEntitlementsPaginated({
            user: viewer.id,
            gameId: game.id,
            fulfillmentStatus: 'FULFILLED',
          })
          .getAll()
        expect(done.every(each => each.gameId === game.id && each.fulfillmentStatus === 'FULFILLED')).toBe(
          true,
        )
        const own = await as(viewer)
          .entitlements.getDropsEntitlementsPaginated({ user: viewer.id } as HelixDropsEntitlementFilter)
          .getAll()
        expect(own).toHaveLength(15)
        expect(own.every(each => each.userId === viewer.id)).toBe(true)
        const byApp = await app.entitlements
          .getDropsEntitlementsPaginated({ user: viewer.id } as HelixDropsEntitlementFilter, true)
          .getAll()
        expect(byApp.map(each => each.id)).toEqual(own.map(each => each.id))
      })

      test('GetDropsEntitlements: 100 ids come whole; single look-ups are batched', async () => {
        const all = await app.entitlements.getDropsEntitlementsPaginated(NO_FILTER).getAll()
        const ids = all.map(each => each.id)
        expect(await app.entitlements.getDropsEntitlementsByIds(ids.slice(0, 100))).toHaveLength(100)
        expect((await app.entitlements.getDropsEntitlementById(ids[3] as string))?.id).toBe(ids[3] as string)
        const unknown = crypto.randomUUID()
        const { entitlements } = app
        const batched = await Promise.all(
          [...ids, unknown].map(id => entitlements.getDropsEntitlementByIdBatched(id)),
        )
        expect(batched.map(each => each?.id ?? null)).toEqual([...ids, null])
      })

      test('UpdateDropsEntitlements: each id has its status', async () => {
        const { other_client } = server.world
        const all = await app.entitlements.getDropsEntitlementsPaginated(NO_FILTER).getAll()
        const foreign = await server.call({
          path: '/helix/entitlements/drops',
          token: other_client.app_token,
          headers: { 'Client-Id': other_client.id },
          query: { first: 1 },
        })
        const [good, failing] = all.map(each => each.id) as [string, string]
        await server.control('POST', '/faults', {
          operation: 'UpdateDropsEntitlements',
          outcome: 'update_failed',
          entitlement_id: failing,
        })
        const unknown = crypto.randomUUID()
        const result = await app.entitlements.updateDropsEntitlements(
          [good, 'no-id', unknown, foreign.body.data[0].id, failing],
          'FULFILLED',
        )
        expect([...result]).toEqual([
          [good, 'SUCCESS'],
          ['no-id', 'INVALID_ID'],
          [unknown, 'NOT_FOUND'],
          [foreign.body.data[0].id, 'UNAUTHORIZED'],
          [failing, 'UPDATE_FAILED'],
        ])
        const after = await app.entitlements.getDropsEntitlementById(good)
        expect(after?.fulfillmentStatus).toBe('FULFILLED')
      })
    })

    describe('channels', () => {
      const liveIds = async () =>
        (await app.streams.getStreamsPaginated().getAll()).map(stream => stream.userId)

      test('GetChannelInformation: one, several in order, and 150 batched look-ups', async () => {
        const { broadcaster } = server.world
        const channel = await app.channels.getChannelInfoById(broadcaster.id)
        expect([channel?.id, channel?.name]).toEqual([broadcaster.id, broadcaster.login])
        expect(channel?.language).toMatch(/^[a-z]{2}$/)
        expect(await app.channels.getChannelInfoById('999')).toBeNull()
        const ids = (await liveIds()).slice(0, 150)
        const hundred = await app.channels.getChannelInfoByIds(ids.slice(0, 100))
        expect(hundred.map(each => each.id)).toEqual(ids.slice(0, 100))
        const batched = await Promise.all(
          [...ids, '999'].map(id => app.channels.getChannelInfoByIdBatched(id)),
        )
        expect(batched.map(each => each?.id)).toEqual([...ids, undefined])
      })

      test('ModifyChannelInformation: everything at once, delay and labels included', async () => {
        const { broadcaster, game } = server.world
        const mine = as(broadcaster)
        await server.control('PUT', `/users/${broadcaster.id}`, { broadcaster_type: 'partner' })
        await server.control('PATCH', `/channels/${broadcaster.id}`, {
          is_mature: true,
          content_classification_labels: [],
        })
        await mine.channels.updateChannelInfo(broadcaster.id, {
          title: 'Changed by a library',
          gameId: game.id,
          language: 'sv',
          delay: 25,
          tags: ['Calm', 'Reef'],
          contentClassificationLabels: ['Gambling', 'ViolentGraphic'],
          isBrandedContent: true,
        })
        const changed = await mine.channels.getChannelInfoById(broadcaster.id)
        expect(changed).toMatchObject({
          title: 'Changed by a library',
          gameId: game.id,
          language: 'sv',
          delay: 25,
          tags: ['Calm', 'Reef'],
          contentClassificationLabels: ['Gambling', 'MatureGame', 'ViolentGraphic'],
          isBrandedContent: true,
        })
        expect((await app.streams.getStreamByUserId(broadcaster.id))?.title).toBe('Changed by a library')
        expect((await app.channels.getChannelInfoById(broadcaster.id))?.delay).toBe(0)
        await mine.channels.updateChannelInfo(broadcaster.id, { tags: [], delay: 0, isBrandedContent: false })
        const cleared = await mine.channels.getChannelInfoById(broadcaster.id)
        expect([cleared?.tags, cleared?.delay, cleared?.title]).toEqual([[], 0, 'Changed by a library'])
        const refused = mine.channels.updateChannelInfo(broadcaster.id, { gameId: '999' })
        await expect(refused).rejects.toThrow('invalid game_id')
      })

      test('GetFollowedChannels: all of them page by page, their number, and one alone', async () => {
        const { id, token } = server.world.offline
        const ids = (await liveIds()).slice(0, 130)
        await server.control('POST', '/follows', {
          follows: ids.map(broadcaster_id => ({ user_id: id, broadcaster_id })),
        })
        const mine = as({ token })
        const request = mine.channels.getFollowedChannelsPaginated(id)
        const total = await request.getTotalCount()
        const all = await request.getAll()
        expect(all.map(each => each.broadcasterId)).toEqual(expect.arrayContaining(ids))
        expect([new Set(all.map(each => each.broadcasterId)).size, all.length]).toEqual([total, total])
        expect(all.every(each => each.followDate.getTime() > 0)).toBe(true)
        const page = await mine.channels.getFollowedChannels(id)
        expect([page.data.length, page.total]).toEqual([20, total])
        const one = await mine.channels.getFollowedChannels(id, ids[0])
        expect([one.data.map(each => each.broadcasterId), one.total]).toEqual([[ids[0] ?? ''], total])
      })

      test('GetChannelFollowers: all of them page by page, their number for anyone, and one alone', async () => {
        const { broadcaster, viewer, editor } = server.world
        const ids = (await liveIds()).slice(0, 130)
        await server.control('POST', '/follows', {
          follows: [viewer.id, ...ids].map(user_id => ({ user_id, broadcaster_id: broadcaster.id })),
        })
        const mine = as(broadcaster)
        const request = mine.channels.getChannelFollowersPaginated(broadcaster.id)
        const total = await request.getTotalCount()
        const all = await request.getAll()
        expect(all.map(each => each.userId)).toEqual(expect.arrayContaining(ids))
        expect([new Set(all.map(each => each.userId)).size, all.length]).toEqual([total, total])
        for (const api of [app, mine, as(viewer)])
          expect(await api.channels.getChannelFollowerCount(broadcaster.id)).toBe(total)
        const one = await as(editor).channels.getChannelFollowers(broadcaster.id, viewer.id)
        expect([one.data.map(each => each.userId), one.total]).toEqual([[viewer.id], total])
        expect((await as(viewer).channels.getChannelFollowers(broadcaster.id)).data).toEqual([])
      })

      test('GetChannelEditors: those of the own channel', async () => {
        const { broadcaster, editor } = server.world
        const editors = await as(broadcaster).channels.getChannelEditors(broadcaster.id)
        expect(editors.map(each => each.userId)).toContain(editor.id)
        expect(editors.every(each => each.creationDate.getTime() > 0)).toBe(true)
      })
    })

    test('300 calls at once do not hang', async () => {
      const { broadcaster, viewer } = server.world
      const [mine, theirs] = [as(broadcaster), as(viewer)]
      const calls = Array.from({ length: 300 }, (_, n) => {
        if (n % 4 === 0) return app.streams.getStreams({ limit: 1 })
        if (n % 4 === 1) return mine.streams.getStreamKey(broadcaster.id)
        if (n % 4 === 2) return theirs.streams.getFollowedStreams(viewer.id, { limit: 1 })
        // An error among them must not hold up the others.
        return mine.streams.getStreamMarkersForVideo(broadcaster.id, '1').catch(error => error.statusCode)
      })
      const results = await Promise.all(calls)
      expect(results.filter(result => result === 404)).toHaveLength(75)
    }, 30_000)
  })
}
