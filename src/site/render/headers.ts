/** The headers of a page. */

/** What a page loads beside pictures and style sheets. */
export interface PageNeeds {
  readonly hasScript: boolean
  readonly node?: string | null | undefined
  readonly playlist?: string | undefined
}

/**
 * No framing, nothing inline, and nothing from other hosts but the video of the node or media server that has it. Only a page with an island
 * has a script, which may call this server. `form-action` is not restricted because a form may redirect to an application.
 */
export function pageHeaders({ hasScript, node, playlist }: PageNeeds): Record<string, string> {
  const policy = [
    "default-src 'none'",
    ...(hasScript
      ? [
          "script-src 'self'",
          `connect-src 'self'${parseOrigin(node)}${parseOrigin(playlist)}`,
          `media-src 'self' blob:${parseOrigin(playlist)}`,
        ]
      : []),
    "style-src 'self'",
    "img-src 'self' data:",
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

/** The origin of a URL as another source; nothing if there is none, or if it is a path of this host. */
function parseOrigin(url: string | null | undefined): string {
  return url && URL.canParse(url) ? ` ${new URL(url).origin}` : ''
}
