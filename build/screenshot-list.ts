/** The pages that `npm run screenshots` takes pictures of. The name is that of the file: `<name>-light.webp`. */
export interface Shot {
  readonly name: string
  /** `{login}` is the channel that is broadcasting, `{video}` its recording of an earlier broadcast. */
  readonly path: string
  /** Who looks at the page; default: a visitor. The operator pastes the token into the form of the page. */
  readonly as?: 'broadcaster' | 'viewer' | 'operator'
  /** What to wait for or do before the picture is taken. */
  readonly until?: 'playing' | 'tried'
}

export const SHOTS: readonly Shot[] = [
  { name: 'home', path: '/' },
  { name: 'channel', path: '/{login}', until: 'playing' },
  { name: 'video', path: '/videos/{video}', as: 'broadcaster', until: 'playing' },
  { name: 'studio', path: '/studio', as: 'broadcaster' },
  { name: 'drops', path: '/drops', as: 'viewer' },
  { name: 'console', path: '/console', as: 'operator' },
  { name: 'docs', path: '/docs#GetStreams', until: 'tried' },
  { name: 'log-in', path: '/login' },
]

export const SCHEMES = ['light', 'dark'] as const

/** Of all pictures together: everyone who clones the repository gets them. */
export const MAX_BYTES = 1_500_000

export const FOLDER = 'docs/screenshots'
