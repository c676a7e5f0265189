import { type Html, html, Html as Markup } from '../kit/html.ts'
import { ICON_URL, MARK } from '../kit/mark.ts'
import { STYLE } from './style.ts'

export interface Page {
  readonly title: string
  readonly body: Html
  readonly status?: number
  /** The Retry-After of a temporary failure. */
  readonly retryAfterSeconds?: number
  /** Pages with lists are wider than those with a form. */
  readonly wide?: boolean
}

export function document({ title, body, wide = false }: Page): string {
  const width = wide ? 'wide' : ''
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title} · Strand</title>
<link rel="icon" href="${ICON_URL}">
<style>${new Markup(STYLE)}</style>
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<header class="${width}">${MARK}<span class="name">Strand</span></header>
<main id="content" class="${width}">${body}</main>
</body>
</html>
`
  return page.text
}

/**
 * No scripts, no framing, and no subresources but the images of this server; the one style sheet is allowed by digest. `form-action` is not restricted because
 * a form may redirect to an application.
 */
export function pageHeaders(styleDigest: string): Record<string, string> {
  return {
    'Content-Type': 'text/html; charset=utf-8',
    'Cache-Control': 'no-store',
    'Content-Security-Policy': `default-src 'none'; style-src 'sha256-${styleDigest}'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'`,
    'Referrer-Policy': 'same-origin',
    'X-Content-Type-Options': 'nosniff',
    'X-Frame-Options': 'DENY',
  }
}

/** A message above a form: the outcome of the last submission. */
export function notice(kind: 'bad' | 'good', sentence: string | undefined): Html | undefined {
  if (sentence === undefined) return undefined
  return html`<p class="notice ${kind}" role="${kind === 'bad' ? 'alert' : 'status'}">${sentence}</p>`
}
