/** The headers of a page. */
import type { Page } from './page.ts'

/** What a page loads beside pictures, style sheets and fonts. */
export interface PageNeeds {
  readonly hasScript: boolean
  readonly media?: Page['media']
}

/**
 * No framing, nothing inline, and nothing from other hosts but the video of the nodes and media servers that have it. Only a page with an island
 * has a script, which may call this server. `form-action` is not restricted because a form may redirect to an application.
 */
export function pageHeaders({ hasScript, media = [] }: PageNeeds): Record<string, string> {
  const origins = [...new Set(media.flatMap(parseOrigin))].map(origin => ` ${origin}`).join('')
  const policy = [
    "default-src 'none'",
    ...(hasScript
      ? ["script-src 'self'", `connect-src 'self'${origins}`, `media-src 'self' blob:${origins}`]
      : []),
    "style-src 'self'",
    "font-src 'self'",
    "img-src 'self' data:",
    "manifest-src 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ]
  return {
    'Content-Type': 'text/html; charset=utf-8',
    'Cache-Control': 'no-store',
    'Content-Security-Policy': policy.join('; '),
    'Referrer-Policy': 'same-origin',
    'X-Content-Type-Options': 'nosniff',
    'X-Frame-Options': 'DENY',
  }
}

/** The origin of a URL; none of a path of this host. */
function parseOrigin(url: string | null | undefined): string[] {
  return url && URL.canParse(url) ? [new URL(url).origin] : []
}
