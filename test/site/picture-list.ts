/** The pages that have pictures: see pictures.full.ts. */
import { tables } from '../../src/contract/admin/index.ts'

/** Who looks at a page; each has a browser. The operator is logged in to the console. */
export const PEOPLE = ['visitor', 'broadcaster', 'offline', 'viewer', 'editor', 'operator'] as const
export type PersonName = (typeof PEOPLE)[number]

/** What the paths of pages contain. */
export interface Places {
  /** Channels: one that is live, and one that is not. */
  readonly live: string
  readonly offline: string
  readonly video: string
  /** A channel that was live yesterday. */
  readonly ended: string
  /** A channel that plays on this site, and whose publisher is away. */
  readonly waiting: string
  /** A video with a recording and markers. */
  readonly recorded: string
  readonly game: string
  readonly user: string
  /** A code that a device shows. */
  readonly deviceCode: string
  readonly authorize: string
  /** The path of a link to set a password. */
  readonly newPassword: string
  /** A channel that counts for a campaign, and the campaign. */
  readonly dropsChannel: string
  readonly campaign: string
}

export interface PagePicture {
  readonly name: string
  /** The page as `PAGES` of site/pages.ts has it; `/docs` and paths without a page are not in that list. */
  readonly page: string
  readonly path: (places: Places) => string
  readonly as?: PersonName
  /** What differs from run to run, or from machine to machine. */
  readonly hidden?: string
  /** What is removed because there is so much of it that a picture takes long. */
  readonly without?: string
  /** An element that scripts add. */
  readonly waitFor?: string
  /** A key that is pressed then. */
  readonly press?: string
}

const at = (path: string) => (): string => path

const consolePage = (name: string, path: string, more: Partial<PagePicture> = {}): PagePicture => ({
  name: `console-${name}`,
  page: '/console/{page}',
  path: at(`/console/${path}`),
  as: 'operator',
  ...more,
})

export const PICTURES: readonly PagePicture[] = [
  { name: 'home', page: '/', path: at('/') },
  { name: 'games', page: '/games', path: at('/games') },
  { name: 'game', page: '/games/{game_id}', path: ({ game }) => `/games/${game}` },
  { name: 'game-missing', page: '/games/{game_id}', path: at('/games/1') },
  { name: 'home-following', page: '/', path: at('/'), as: 'viewer' },
  { name: 'home-drops', page: '/', path: at('/?drops=1') },
  { name: 'search', page: '/', path: at('/?q=a') },
  { name: 'search-nothing', page: '/', path: at('/?q=zzzzzz') },
  { name: 'channel-live', page: '/{login}', path: ({ live }) => `/${live}` },
  {
    name: 'channel-drops',
    page: '/{login}',
    path: ({ dropsChannel }) => `/${dropsChannel}`,
    hidden: '.player, .counting',
    as: 'viewer',
  },
  { name: 'channel-offline', page: '/{login}', path: ({ offline }) => `/${offline}` },
  { name: 'channel-ended', page: '/{login}', path: ({ ended }) => `/${ended}`, as: 'viewer' },
  { name: 'channel-missing', page: '/{login}', path: at('/no_such_channel') },
  { name: 'video', page: '/videos/{video_id}', path: ({ video }) => `/videos/${video}?t=1m30s` },
  {
    name: 'player-waiting',
    page: '/{login}',
    path: ({ waiting }) => `/${waiting}`,
    waitFor: '[data-state=loading] .message:not(:empty)',
  },
  {
    name: 'player-recorded',
    page: '/videos/{video_id}',
    path: ({ recorded }) => `/videos/${recorded}?t=20m`,
    waitFor: '[data-part=bar]:not([hidden])',
  },
  {
    name: 'player-keys',
    page: '/videos/{video_id}',
    path: ({ recorded }) => `/videos/${recorded}`,
    waitFor: '[data-part=bar]:not([hidden])',
    press: '?',
  },
  { name: 'log-in', page: '/login', path: at('/login') },
  { name: 'sign-up', page: '/signup', path: at('/signup') },
  { name: 'account', page: '/account', path: at('/account'), as: 'viewer' },
  { name: 'new-password', page: '/account/new-password', path: ({ newPassword }) => newPassword },
  { name: 'new-password-ended', page: '/account/new-password', path: at('/account/new-password?reset=x') },
  { name: 'drops', page: '/drops', path: at('/drops'), as: 'viewer' },
  { name: 'drops-visitor', page: '/drops', path: at('/drops') },
  { name: 'consent', page: '/oauth2/authorize', path: ({ authorize }) => authorize, as: 'viewer' },
  {
    name: 'consent-wrong',
    page: '/auth/authorize',
    path: at('/auth/authorize?client_id=unknown'),
    as: 'viewer',
  },
  { name: 'device', page: '/activate', path: at('/activate'), as: 'viewer' },
  {
    name: 'device-wrong',
    page: '/oauth2/activate',
    path: at('/oauth2/activate?device-code=WRONGCOD'),
    as: 'viewer',
  },
  {
    name: 'device-consent',
    page: '/auth/activate',
    path: ({ deviceCode }) => `/auth/activate?device-code=${deviceCode}`,
    as: 'viewer',
    hidden: '.user-code',
  },
  { name: 'studio-offline', page: '/studio', path: at('/studio'), as: 'offline' },
  { name: 'studio-live', page: '/studio', path: at('/studio'), as: 'broadcaster', waitFor: '.plot canvas' },
  {
    name: 'studio-videos',
    page: '/studio/{login}/videos',
    path: ({ live }) => `/studio/${live}/videos`,
    as: 'broadcaster',
  },
  {
    name: 'studio-channel',
    page: '/studio/{login}/channel',
    path: ({ live }) => `/studio/${live}/channel`,
    as: 'broadcaster',
  },
  {
    name: 'studio-editors',
    page: '/studio/{login}/editors',
    path: ({ live }) => `/studio/${live}/editors`,
    as: 'broadcaster',
  },
  { name: 'studio-editor', page: '/studio/{login}', path: ({ live }) => `/studio/${live}`, as: 'editor' },
  {
    name: 'docs',
    page: '/docs',
    path: at('/docs'),
    waitFor: '.try-button',
    without: '.family:not(:has(#GetStreams)), article ~ article ~ article',
  },
  { name: 'not-found', page: '', path: at('/there/is/nothing') },
  { name: 'bad-request', page: '/', path: at('/?after=nothing') },
  { name: 'console-log-in', page: '/console', path: at('/console'), as: 'visitor' },
  {
    name: 'console',
    page: '/console',
    path: at('/console'),
    as: 'operator',
    waitFor: '.plot canvas',
    hidden: '.legend, td, dd',
    without: 'tbody tr:nth-child(n + 4)',
  },
  ...tables.map(({ path }) => consolePage(path, path)),
  consolePage('search', 'search?q=a'),
  // What it finds depends on the machine.
  consolePage('doctor', 'doctor', { hidden: 'main p', without: 'tbody tr' }),
  consolePage('demo', 'demo', { hidden: '.table' }),
  consolePage('user', '', { path: ({ user }) => `/console/users/${user}` }),
  consolePage('client-new', 'clients/new'),
  consolePage('campaign', '', { path: ({ campaign }) => `/console/campaigns/${campaign}` }),
  consolePage('campaign-edit', '', { path: ({ campaign }) => `/console/campaigns/${campaign}/edit` }),
  consolePage('campaign-explain', '', {
    path: ({ campaign, user, dropsChannel }) =>
      `/console/campaigns/${campaign}/explain?user_id=${user}&channel_id=${dropsChannel}`,
  }),
  consolePage('user-delete', '', { path: ({ user }) => `/console/users/${user}/delete` }),
  consolePage('missing', 'users/0'),
]
