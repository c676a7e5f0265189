/**
 * What a suspended user still shows (D-270 to D-273). Every operation, every page and every route of media is in the tables
 * below: it hides the user until the suspension ends, or the table has the reason why not.
 */
import { beforeAll, expect, test } from 'bun:test'
import { operations } from '../../src/contract/index.ts'
import { familyOf } from '../../src/contract/operation.ts'
import { SCOPES } from '../../src/contract/scope.ts'
import { inventVideo } from '../../src/demo/invented-video.ts'
import { PAGES } from '../../src/site/pages.ts'
import { csrfIn, Person } from '../support/browser/person.ts'
import { usingCheapPasswords } from '../support/server/cheap-passwords.ts'
import { onEachStore } from '../support/server/each-store.ts'
import type { Ask, TestServer } from '../support/server.ts'
import { newUser, nowOf, tokenOf } from './control/operator.ts'
import { publishedCampaign } from './drops/campaigns.ts'

usingCheapPasswords()

/** The user who is suspended, and another one, `fan`: each follows the other and edits the other's channel. */
interface Setting {
  readonly server: TestServer
  readonly star: { readonly id: string; readonly login: string }
  readonly starToken: string
  readonly refreshToken: string
  readonly fan: { readonly id: string; readonly login: string }
  readonly fanToken: string
  /** Browsers of both, and of a visitor. */
  readonly starBrowser: Person
  readonly fanBrowser: Person
  readonly visitor: Person
  /** A past video with a recording elsewhere, and one of the demo. */
  readonly recorded: string
  readonly invented: string
  readonly game: string
  readonly entitlement: string
  readonly broadcast: string
}

interface Shown {
  readonly status: number
  readonly text: string
}

interface Probe {
  readonly ask: (setting: Setting) => Promise<Shown>
  /** Whether the answer shows the user; default: it succeeds and names the user or a video. */
  readonly shows?: (answer: Shown, setting: Setting) => boolean
  /** It showed the stream, which has ended. */
  readonly ends?: boolean
}

/** Of the user alone: the session or the token has ended. */
const OWN = 'needs the session or token of the user'
const OPERATOR = 'operators see suspended users'
const NONE = 'shows no users'
const KEPT = 'stays as it is (D-273)'

type Row = Probe | readonly Probe[] | typeof OWN | typeof OPERATOR | typeof NONE | typeof KEPT

const namesUser = ({ status, text }: Shown, { star, recorded, invented }: Setting): boolean =>
  status < 400 && [star.login, star.id, recorded, invented].some(each => text.includes(each))
const succeeds = ({ status }: Shown): boolean => status < 400

const asFan = (ask: (setting: Setting) => Ask, more: Partial<Probe> = {}): Probe => ({
  ask: setting => setting.server.call({ token: setting.fanToken, ...ask(setting) }),
  ...more,
})
const asApp = (ask: (setting: Setting) => Ask, more: Partial<Probe> = {}): Probe => ({
  ask: setting => setting.server.call({ token: setting.server.world.client.app_token, ...ask(setting) }),
  ...more,
})
const openTo =
  (who: 'visitor' | 'fanBrowser', path: (setting: Setting) => string) =>
  async (setting: Setting): Promise<Shown> => {
    const { status, html } = await setting[who].open(path(setting))
    return { status, text: html }
  }
const page = (path: (setting: Setting) => string, more: Partial<Probe> = {}): Probe => ({
  ask: openTo('visitor', path),
  ...more,
})
const fanPage = (path: (setting: Setting) => string, more: Partial<Probe> = {}): Probe => ({
  ask: openTo('fanBrowser', path),
  ...more,
})
const fanForm = (
  path: (setting: Setting) => string,
  values: (setting: Setting) => Record<string, string>,
  more: Partial<Probe> = {},
): Probe => ({
  ask: async setting => {
    const csrf = csrfIn((await setting.fanBrowser.open('/account')).html)
    const { status, html } = await setting.fanBrowser.postRaw(path(setting), { csrf, ...values(setting) }, {})
    return { status, text: html }
  },
  shows: succeeds,
  ...more,
})

const OPERATIONS: Readonly<Record<string, Row>> = {
  GetDropsEntitlements: KEPT,
  UpdateDropsEntitlements: KEPT,
  GetStreams: [
    asApp(({ star }) => ({ path: '/helix/streams', query: { user_login: star.login } }), { ends: true }),
    asApp(({ game }) => ({ path: '/helix/streams', query: { game_id: game } }), { ends: true }),
  ],
  GetFollowedStreams: asFan(({ fan }) => ({ path: '/helix/streams/followed', query: { user_id: fan.id } }), {
    ends: true,
  }),
  GetStreamKey: OWN,
  CreateStreamMarker: asFan(
    ({ star }) => ({ method: 'POST', path: '/helix/streams/markers', body: { user_id: star.id } }),
    { shows: succeeds, ends: true },
  ),
  GetStreamMarkers: [
    asFan(({ recorded }) => ({ path: '/helix/streams/markers', query: { video_id: recorded } })),
    asFan(({ star }) => ({ path: '/helix/streams/markers', query: { user_id: star.id } })),
  ],
  GetUsers: [
    asApp(({ star }) => ({ path: '/helix/users', query: { id: star.id } })),
    asApp(({ star }) => ({ path: '/helix/users', query: { login: star.login } })),
  ],
  UpdateUser: OWN,
  GetGames: NONE,
  SearchCategories: NONE,
  GetVideos: [
    asApp(({ star }) => ({ path: '/helix/videos', query: { user_id: star.id } })),
    asApp(({ game }) => ({ path: '/helix/videos', query: { game_id: game } })),
    asApp(({ recorded }) => ({ path: '/helix/videos', query: { id: recorded } })),
  ],
  DeleteVideos: OWN,
  GetChannelInformation: asApp(({ star }) => ({
    path: '/helix/channels',
    query: { broadcaster_id: star.id },
  })),
  ModifyChannelInformation: OWN,
  GetFollowedChannels: asFan(({ fan }) => ({
    path: '/helix/channels/followed',
    query: { user_id: fan.id },
  })),
  GetChannelFollowers: asFan(({ fan }) => ({
    path: '/helix/channels/followers',
    query: { broadcaster_id: fan.id },
  })),
  GetChannelEditors: asFan(({ fan }) => ({
    path: '/helix/channels/editors',
    query: { broadcaster_id: fan.id },
  })),
  GetTopGames: NONE,
  SearchChannels: [
    asApp(({ star }) => ({ path: '/helix/search/channels', query: { query: star.login.slice(0, 8) } })),
    asApp(
      ({ star }) => ({ path: '/helix/search/channels', query: { query: star.login, live_only: 'true' } }),
      {
        ends: true,
      },
    ),
  ],
  ExportStreamMarkers: asFan(
    ({ recorded }) => ({
      path: '/helix/streams/markers/export',
      query: { video_id: recorded, format: 'csv' },
    }),
    { shows: succeeds },
  ),
  CreateEventSubSubscription: asApp(
    ({ star }) => ({
      method: 'POST',
      path: '/helix/eventsub/subscriptions',
      body: {
        type: 'stream.online',
        version: '1',
        condition: { broadcaster_user_id: star.id },
        transport: {
          method: 'webhook',
          callback: `https://example.com/${crypto.randomUUID()}`,
          secret: 'a secret of the test',
        },
      },
    }),
    { shows: succeeds },
  ),
  GetEventSubSubscriptions: KEPT,
  DeleteEventSubSubscription: NONE,
  GetDropsCampaigns: NONE,
  GetDropsCampaign: NONE,
  GetDropsProgress: OWN,
  ClaimDrop: OWN,
  CreateToken: {
    ask: ({ server: { world, call }, refreshToken }) =>
      call({
        method: 'POST',
        path: '/oauth2/token',
        body: {
          grant_type: 'refresh_token',
          client_id: world.client.id,
          client_secret: world.client.secret,
          refresh_token: refreshToken,
        },
      }),
    shows: succeeds,
    // The refresh token has ended.
    ends: true,
  },
  CreateDeviceCode: NONE,
  ValidateToken: OWN,
  RevokeToken: NONE,
  MintUserToken: {
    ask: ({ server: { world, call }, star }) =>
      call({
        method: 'POST',
        path: '/oauth2/authorize',
        query: {
          grant_type: 'user_token',
          client_id: world.client.id,
          client_secret: world.client.secret,
          user_id: star.id,
        },
      }),
    shows: succeeds,
  },
  GetOpenidConfiguration: NONE,
  GetSigningKeys: NONE,
  CreateOpenidToken: NONE,
  GetUserInfo: OWN,
  CreatePlaybackSession: [
    asApp(({ star }) => ({ method: 'POST', path: '/playback/session', body: { login: star.login } }), {
      shows: succeeds,
    }),
    asApp(({ recorded }) => ({ method: 'POST', path: '/playback/session', body: { video_id: recorded } }), {
      shows: succeeds,
    }),
  ],
  SendHeartbeat: NONE,
  GetLatestStreams: asApp(() => ({ path: '/playback/latest' }), { ends: true }),
}

const ROUTES: Readonly<Record<string, Row>> = {
  'GET /': [
    page(() => '/?language=xh', { ends: true }),
    page(({ star }) => `/?q=${star.login.slice(0, -1)}`),
    fanPage(() => '/', { ends: true }),
  ],
  'GET /oauth2/authorize': OWN,
  'POST /oauth2/consent': OWN,
  'GET /oauth2/activate': OWN,
  'GET /auth/authorize': OWN,
  'GET /auth/activate': OWN,
  'GET /activate': OWN,
  'POST /activate': OWN,
  'GET /login': NONE,
  /** A test below. */
  'POST /login': NONE,
  'POST /logout': NONE,
  'GET /signup': NONE,
  'POST /signup': NONE,
  'GET /account': OWN,
  'POST /account/disconnect': OWN,
  'POST /account/end-session': OWN,
  'POST /account/password': OWN,
  'POST /account/profile': OWN,
  'POST /account/appearance': OWN,
  'POST /account/end-other-sessions': OWN,
  'GET /account/new-password': NONE,
  'POST /account/new-password': NONE,
  'POST /follow': fanForm(
    () => '/follow',
    ({ star }) => ({ login: star.login, decision: 'follow' }),
  ),
  'GET /drops': OWN,
  'POST /drops': OWN,
  'GET /studio': [fanPage(() => '/studio')],
  'GET /studio/{login}': fanPage(({ star }) => `/studio/${star.login}`),
  'GET /studio/{login}/status': fanPage(({ star }) => `/studio/${star.login}/status`, { shows: succeeds }),
  'GET /studio/{login}/channel': OWN,
  'POST /studio/{login}/channel': OWN,
  'POST /studio/{login}/key': OWN,
  'POST /studio/{login}/markers': fanForm(
    ({ star }) => `/studio/${star.login}/markers`,
    () => ({ decision: 'add', description: 'here' }),
    { ends: true },
  ),
  'GET /studio/{login}/markers/export': fanPage(
    ({ star, recorded }) => `/studio/${star.login}/markers/export?video_id=${recorded}&format=csv`,
    { shows: succeeds },
  ),
  'GET /studio/{login}/editors': OWN,
  'POST /studio/{login}/editors': OWN,
  'GET /studio/{login}/videos': fanPage(({ star }) => `/studio/${star.login}/videos`),
  'POST /studio/{login}/videos': OWN,
  'GET /search/suggestions': page(({ star }) => `/search/suggestions?q=${star.login}`),
  'POST /site/token': OWN,
  'GET /site/broadcast': page(({ star }) => `/site/broadcast?user_id=${star.id}`, { ends: true }),
  'GET /site/drops-channels': page(({ star }) => `/site/drops-channels?user_ids=${star.id}`, { ends: true }),
  'GET /console': OPERATOR,
  'POST /console/login': OPERATOR,
  'POST /console/logout': OPERATOR,
  'GET /console/{page}': OPERATOR,
  'POST /console/{page}': OPERATOR,
  'GET /games': NONE,
  'GET /games/{game_id}': page(({ game }) => `/games/${game}`),
  'GET /videos/{video_id}': page(({ recorded }) => `/videos/${recorded}`),
  'GET /{login}': page(({ star }) => `/${star.login}`),
  /** Media, which `http/routes.ts` finds by functions: the test below lists these. */
  'GET /images/{picture}': KEPT,
  'GET /live/{login}.m3u8': page(({ star }) => `/live/${star.login}.m3u8`, { ends: true }),
  'GET /live/{login}/{broadcast}/{file}': page(({ broadcast }) => `/live/${broadcast}`, {
    shows: succeeds,
    ends: true,
  }),
  'GET /videos/{video_id}.m3u8': page(({ invented }) => `/videos/${invented}.m3u8`, { shows: succeeds }),
  'GET /videos/{video_id}.mp4': page(({ recorded }) => `/videos/${recorded}.mp4`, { shows: succeeds }),
}

const MEDIA = /^GET \/(?:live|images|videos\/\{video_id\}\.)/

/** The functions by which `http/routes.ts` finds routes that are neither operations nor pages. */
const FOUND_BY: Readonly<Record<string, string>> = {
  isImagePath: 'is in the table',
  isLivePath: 'is in the table',
  isRecordingPath: 'is in the table',
  isConsolePath: OPERATOR,
  isIngestPath: 'for media servers: a test below asks for keys',
  isSocketPath: 'has no users before a subscription, which is an operation',
  isAssetPath: NONE,
  isSiteFile: NONE,
}

test('every operation, page and route of media is in the tables', async () => {
  const source = await Bun.file('src/http/routes.ts').text()
  const functions = new Set(Array.from(source.matchAll(/\b(is\w+)\(at\(context\)\)/g), ([, name]) => name))
  expect([...functions].toSorted()).toEqual(Object.keys(FOUND_BY).toSorted())
  const known = operations.filter(operation => familyOf(operation) !== 'control').map(({ id }) => id)
  expect(Object.keys(OPERATIONS).toSorted()).toEqual(known.toSorted())
  const pages = Object.entries(PAGES).flatMap(([path, byMethod]) =>
    Object.keys(byMethod).map(method => `${method} ${path}`),
  )
  const classified = Object.keys(ROUTES).filter(way => !MEDIA.test(way))
  expect(classified.toSorted()).toEqual(pages.toSorted())
})

const probesIn = (row: Row): readonly Probe[] => (typeof row === 'string' ? [] : [row].flat())

let settings = 0

async function prepare(server: TestServer): Promise<Setting> {
  settings += 1
  const star = await newUser(server, { login: `star_${settings}_hidden`, password: 'the right password' })
  const fan = await newUser(server, { login: `her_fan_${settings}`, password: 'another password' })
  const campaign = await publishedCampaign(server)
  const game: string = campaign.game_id
  await server.control('PATCH', `/channels/${star.id}`, { game_id: game, language: 'xh' })
  for (const [one, other] of [
    [star, fan],
    [fan, star],
  ]) {
    await server.control('PUT', `/users/${one.id}/follows/${other.id}`, {})
    await server.control('PUT', `/channels/${one.id}/editors/${other.id}`, {})
  }
  const videos: string[] = []
  for (const minutes of [20, 10]) {
    const started_at = new Date(nowOf(server) - minutes * 60_000).toISOString()
    await server.control('PUT', `/channels/${star.id}/stream`, { started_at })
    const [video] = await server.control('GET', `/videos?user_id=${star.id}&first=1`)
    videos.push(video.id)
    await server.control('DELETE', `/channels/${star.id}/stream`)
  }
  const [recorded = '', invented = ''] = videos
  await server.execute(
    `update videos set recording_url = 'https://media.example.com/x.mp4' where id = '${recorded}'`,
  )
  await server.control('PUT', `/channels/${star.id}/stream`, { viewer_count: 5_000_000 })
  const [{ id: entitlement }] = await server.control('POST', '/entitlements', {
    grants: [{ user_id: star.id, game_id: game, benefit_id: campaign.drops[0].benefit_ids[0] }],
  })
  const [{ access_token, refresh_token }] = await server.control('POST', '/tokens', {
    client_id: server.world.client.id,
    user_id: star.id,
    scopes: SCOPES,
  })
  const [starBrowser, fanBrowser, visitor] = [new Person(server), new Person(server), new Person(server)]
  await starBrowser.holdSession(star.id)
  await fanBrowser.holdSession(fan.id)
  for (const person of [starBrowser, fanBrowser, visitor]) person.headers = { Accept: 'text/html, */*' }
  const multivariant = (await visitor.open(`/live/${star.login}.m3u8`)).html
  const broadcast = /^[^#\s]+\.m3u8$/m.exec(multivariant)?.[0] ?? ''
  return {
    server,
    star,
    starToken: access_token,
    refreshToken: refresh_token,
    fan,
    fanToken: await tokenOf(server, fan.id),
    starBrowser,
    fanBrowser,
    visitor,
    recorded,
    invented,
    game,
    entitlement,
    broadcast,
  }
}

const suspend = ({ server, star }: Setting) => server.control('PUT', `/users/${star.id}/suspension`, {})
const unsuspend = ({ server, star }: Setting) => server.control('DELETE', `/users/${star.id}/suspension`)

onEachStore('a suspended user', {}, get => {
  beforeAll(() => {
    const { services } = get().strand
    if (services.demo !== undefined) services.demo.video = inventVideo(services, new Set())
  })

  test('is hidden by every route until the suspension ends', async () => {
    const setting = await prepare(get())
    const rows = [...Object.entries(OPERATIONS), ...Object.entries(ROUTES)]
    const probes = rows.flatMap(([route, row]) => probesIn(row).map(probe => ({ route, probe })))
    const showing = async (which: (probe: Probe) => boolean = () => true) => {
      const found: string[] = []
      for (const { route, probe } of probes.filter(each => which(each.probe))) {
        const answer = await probe.ask(setting)
        if ((probe.shows ?? namesUser)(answer, setting)) found.push(route)
      }
      return found
    }
    const all = probes.map(({ route }) => route)
    expect(await showing()).toEqual(all)
    await suspend(setting)
    expect(await showing()).toEqual([])
    await unsuspend(setting)
    const lasting = probes.filter(({ probe }) => !probe.ends).map(({ route }) => route)
    expect(await showing(probe => !probe.ends)).toEqual(lasting)
    // For a minute, players can read the end of a broadcast.
    await setting.server.control('POST', '/clock', { advance_seconds: 120 })
    expect(await showing(probe => probe.ends === true)).toEqual([])
  })

  test('has no session and no token any more, also after the suspension has ended', async () => {
    const setting = await prepare(get())
    const { server, starToken, starBrowser } = setting
    // The token has no scope for OpenID.
    const own = operations.filter(({ id }) => OPERATIONS[id] === OWN && id !== 'GetUserInfo')
    expect(own.length).toBeGreaterThan(5)
    const refusals = async () => {
      const statuses: number[] = []
      for (const { method, path } of own)
        statuses.push((await server.call({ method, path, token: starToken })).status)
      return statuses
    }
    expect((await refusals()).filter(status => status === 401)).toEqual([])
    expect((await starBrowser.open('/account')).status).toBe(200)
    await suspend(setting)
    expect(await refusals()).toEqual(own.map(() => 401))
    const closed = async () => {
      const { status, location } = await starBrowser.open('/account')
      expect([status, location]).toEqual([302, '/login?next=/account'])
    }
    await closed()
    await unsuspend(setting)
    expect(await refusals()).toEqual(own.map(() => 401))
    await closed()
  })

  test('cannot log in, and learns why only with the right password', async () => {
    const setting = await prepare(get())
    const { server, star } = setting
    const logIn = async (password: string) => {
      const person = new Person(server)
      person.headers = { Accept: 'text/html' }
      await person.open('/login')
      return person.post('/login', { login: star.login, password })
    }
    await suspend(setting)
    const wrong = await logIn('a wrong password')
    expect([wrong.status, wrong.html.includes('suspended')]).toEqual([401, false])
    const right = await logIn('the right password')
    expect([right.status, right.html.includes('This account is suspended.')]).toEqual([403, true])
    expect(right.headers.getSetCookie().join()).not.toContain('strand-session')
    await unsuspend(setting)
    expect((await logIn('the right password')).status).toBe(302)
  })

  test('stops the applications of the user alone until it ends, and none of an organization', async () => {
    const setting = await prepare(get())
    const { server, star, fan } = setting
    const redirect_uris = ['http://localhost:3000/callback']
    const owner = { owner_user_id: star.id, redirect_uris }
    const { organization } = server.world
    const [alone] = await server.control('POST', '/clients', { name: 'A hobby', ...owner })
    const [studio] = await server.control('POST', '/clients', {
      name: 'A studio',
      ...owner,
      organization_id: organization.id,
    })
    const issue = async (client_id: string, more: object = {}) =>
      (await server.control('POST', '/tokens', { client_id, ...more }))[0].access_token
    const tokens = {
      alone: await issue(alone.id),
      'alone, of a user': await issue(alone.id, { user_id: fan.id, scopes: [] }),
      studio: await issue(studio.id),
    }
    const parameters = new URLSearchParams({ response_type: 'code', redirect_uri: redirect_uris[0] ?? '' })
    const works = async () => {
      const found: string[] = []
      for (const [name, token] of Object.entries(tokens)) {
        const { status } = await server.call({ path: '/helix/users', query: { id: fan.id }, token })
        expect([200, 401]).toContain(status)
        if (status === 200) found.push(name)
      }
      for (const { id: client_id, secret: client_secret, name } of [alone, studio]) {
        const body = { grant_type: 'client_credentials', client_id, client_secret }
        const granted = await server.call({ method: 'POST', path: '/oauth2/token', body })
        expect([200, 400]).toContain(granted.status)
        if (granted.status === 200) found.push(`credentials of ${name}`)
        const { html } = await setting.fanBrowser.open(
          `/oauth2/authorize?client_id=${client_id}&${parameters}`,
        )
        if (html.includes(`${name} asks for access`)) found.push(`consent to ${name}`)
      }
      return found
    }
    const ofStudio = ['studio', 'credentials of A studio', 'consent to A studio']
    const all = await works()
    expect(all).toHaveLength(7)
    await suspend(setting)
    expect(await works()).toEqual(ofStudio)
    await unsuspend(setting)
    expect(await works()).toEqual(all)
  })

  test('keeps entitlements, which are listed and fulfilled as before', async () => {
    const setting = await prepare(get())
    const { server, star, entitlement } = setting
    const list = async () => {
      const { body } = await server.call({
        path: '/helix/entitlements/drops',
        query: { user_id: star.id },
        token: server.world.client.app_token,
      })
      return body.data.map((row: { id: string; fulfillment_status: string }) => [
        row.id,
        row.fulfillment_status,
      ])
    }
    await suspend(setting)
    expect(await list()).toEqual([[entitlement, 'CLAIMED']])
    const fulfilled = await server.call({
      method: 'PATCH',
      path: '/helix/entitlements/drops',
      token: server.world.client.app_token,
      body: { entitlement_ids: [entitlement], fulfillment_status: 'FULFILLED' },
    })
    expect(fulfilled.body.data[0].status).toBe('SUCCESS')
    expect(await list()).toEqual([[entitlement, 'FULFILLED']])
  })

  test('earns and claims no drops', async () => {
    const setting = await prepare(get())
    const { server, star } = setting
    const campaign = await publishedCampaign(server)
    const [drop] = campaign.drops
    const { store } = server.strand.services
    const minutes = `/campaigns/${campaign.id}/viewers/${star.id}/minutes`
    await server.control('POST', minutes, { add: 30 })
    await suspend(setting)
    const slot = Math.floor(nowOf(server) / 60_000)
    const report = {
      viewers: [{ user_id: star.id, slots: [[slot, 0]] as const }],
      sets: [[campaign.id]],
      now: nowOf(server),
      ownClock: true,
    }
    expect(await store.commands.flushWatchTime(report)).toEqual([])
    const claim = { user_id: star.id, drop_id: drop.id, now: nowOf(server) }
    expect(await store.commands.claimDrop(claim)).toMatchObject({ problem: 'not_found' })
    const added = await server.call({
      method: 'POST',
      path: `/control${minutes}`,
      token: server.world.operator_token,
      body: { add: 1 },
    })
    expect([added.status, added.problem]).toEqual([409, 'user_suspended'])
    await unsuspend(setting)
    expect(await store.commands.flushWatchTime(report)).toMatchObject([{ added: 1, minutes: 31 }])
    expect(await store.commands.claimDrop(claim)).toMatchObject({ drop_id: drop.id })
  })

  test('has keys that open no channel', async () => {
    const setting = await prepare(get())
    const { server, star, starToken } = setting
    const { body } = await server.call({
      path: '/helix/streams/key',
      query: { broadcaster_id: star.id },
      token: starToken,
    })
    const { store, streamKeys, clock } = server.strand.services
    const hashes = streamKeys.lookupHashes(body.data[0].stream_key)
    const opens = async () =>
      (await store.streamKeys.channelOf(hashes, new Date(clock.now()).toISOString()))?.user_id
    expect(await opens()).toBe(star.id)
    await suspend(setting)
    expect(await opens()).toBeUndefined()
    const session = { adapter: 'embedded', server: 'here', session: crypto.randomUUID() }
    const ids = { user_id: star.id, stream_id: '1', video_id: '1', watch_url: null }
    const opened = await store.commands.openSession({ ...session, ...ids, now: nowOf(server) })
    expect(opened).toMatchObject({ problem: 'user_suspended' })
    await unsuspend(setting)
    expect(await opens()).toBe(star.id)
  })
})
