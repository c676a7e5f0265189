/** The headers of a page. */

/** What a page loads beside pictures and style sheets. */
export interface PageNeeds {
  readonly hasScript: boolean
  readonly node?: string | null | undefined
}

/**
 * No framing, nothing inline, and nothing from other hosts but the video of the node that has it. Only a page with an island
 * has a script, which may call this server. `form-action` is not restricted because a form may redirect to an application.
 */
export function pageHeaders({ hasScript, node }: PageNeeds): Record<string, string> {
  const policy = [
    "default-src 'none'",
    ...(hasScript
      ? ["script-src 'self'", `connect-src 'self'${originOf(node)}`, "media-src 'self' blob:"]
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

/** The origin of a node as another source; nothing if there is none. */
function originOf(node: string | null | undefined): string {
  return node && URL.canParse(node) ? ` ${new URL(node).origin}` : ''
}
