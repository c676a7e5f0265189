/** Files that browsers and crawlers look for at the root of a site: icons, the web manifest, robots.txt. */
import { APP_ICONS } from '../../images/app-icons.ts'
import type { RequestContext } from '../request-context.ts'
import { hasSameTag } from './etag.ts'

const ROBOTS = '/robots.txt'
const MANIFEST = '/manifest.webmanifest'

const TYPES: Readonly<Record<string, string>> = {
  [ROBOTS]: 'text/plain; charset=utf-8',
  [MANIFEST]: 'application/manifest+json',
}

export const isSiteFile = (path: string): boolean =>
  Object.hasOwn(TYPES, path) || Object.hasOwn(APP_ICONS, path)

/** The pages of one person or of operators, and the API. */
const CLOSED_PAGES = ['/account', '/studio', '/console']
const CLOSED_PREFIXES = [
  '/helix/',
  '/mock/',
  '/drops/',
  '/oauth2/',
  '/auth/',
  '/playback/',
  '/control/',
  '/site/',
]

/** A path closes all that begin with it, and `/studio` would close the channel `/studio_mike` too. */
const PUBLIC_ROBOTS = [
  'User-agent: *',
  ...CLOSED_PAGES.flatMap(path => [`${path}$`, `${path}?`, `${path}/`]).map(path => `Disallow: ${path}`),
  ...CLOSED_PREFIXES.map(path => `Disallow: ${path}`),
  '',
].join('\n')
const OPERATOR_ROBOTS = 'User-agent: *\nDisallow: /\n'

const ICONS = [
  { src: '/icon.svg', sizes: 'any', type: 'image/svg+xml' },
  { src: '/icon-192.png', sizes: '192x192', type: 'image/png' },
  { src: '/icon-512.png', sizes: '512x512', type: 'image/png' },
  { src: '/icon-512.png', sizes: '512x512', type: 'image/png', purpose: 'maskable' },
]

const WEB_MANIFEST = JSON.stringify({
  id: '/',
  name: 'Strand',
  short_name: 'Strand',
  description: 'Live channels and their videos',
  start_url: '/',
  scope: '/',
  display: 'minimal-ui',
  background_color: '#0e0f14',
  theme_color: '#4f46e5',
  icons: ICONS,
})

export async function answerSiteFile(context: RequestContext): Promise<Response> {
  const { path, headers, requestId } = context
  const icon = Object.hasOwn(APP_ICONS, path) ? APP_ICONS[path] : undefined
  const content = icon === undefined ? siteText(context) : await icon.file()
  const etag = `"${Bun.hash(content).toString(36)}"`
  const known = {
    'Cache-Control': 'public, max-age=86400',
    ETag: etag,
    'X-Content-Type-Options': 'nosniff',
    'X-Request-Id': requestId,
  }
  if (hasSameTag(headers, etag)) return new Response(null, { status: 304, headers: known })
  const type = icon?.type ?? TYPES[path] ?? ''
  return new Response(content, {
    headers: {
      ...known,
      'Content-Type': type,
      'Cross-Origin-Resource-Policy': 'cross-origin',
      // Opened as a document, an SVG may contain anything that a page may.
      ...(type === 'image/svg+xml' && { 'Content-Security-Policy': "default-src 'none'" }),
    },
  })
}

function siteText({ path, served }: RequestContext): string {
  if (path === MANIFEST) return WEB_MANIFEST
  return served.includes('helix') ? PUBLIC_ROBOTS : OPERATOR_ROBOTS
}
