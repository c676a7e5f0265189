import { createHash } from 'node:crypto'
import { type Html, html, Html as Markup } from '../kit/html.ts'
import { ICON_URL, MARK } from '../kit/mark.ts'
import { STYLE } from './style.ts'

export interface Page {
  readonly title: string
  readonly body: Html
  readonly status?: number
  /** The Retry-After of a temporary failure. */
  readonly retryAfterSeconds?: number
  /** Pages with lists are wider than those with a form, and those with moving pictures use the whole window. */
  readonly width?: 'wide' | 'full'
  readonly player?: PlayerNeeds
}

/** What a page with a player loads. */
export interface PlayerNeeds {
  /** The path of its script. */
  readonly script: string
  /** The node that has the video; null or empty if there is only one. */
  readonly node: string | null
}

export function document({ title, body, width, player }: Page): string {
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title} · Strand</title>
<link rel="icon" href="${ICON_URL}">
<style>${new Markup(STYLE)}</style>
${
  player &&
  html`<script type="module" src="${player.script}"></script>
`
}</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<header class="${width ?? ''}">${MARK}<span class="name">Strand</span></header>
<main id="content" class="${width ?? ''}">${body}</main>
</body>
</html>
`
  return page.text
}

const STYLE_DIGEST = createHash('sha256').update(STYLE).digest('base64')

/**
 * No framing, and no subresources but the images of this server; the one style sheet is allowed by digest. Only a page with
 * a player has a script, which fetches video from this server or from the node that has it, and plays it from memory.
 * `form-action` is not restricted because a form may redirect to an application.
 */
export function pageHeaders(player?: PlayerNeeds): Record<string, string> {
  const watching =
    player && ` script-src 'self'; connect-src 'self'${originOf(player.node)}; media-src 'self' blob:;`
  return {
    'Content-Type': 'text/html; charset=utf-8',
    'Cache-Control': 'no-store',
    'Content-Security-Policy': `default-src 'none';${watching ?? ''} style-src 'sha256-${STYLE_DIGEST}'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'`,
    'Referrer-Policy': 'same-origin',
    'X-Content-Type-Options': 'nosniff',
    'X-Frame-Options': 'DENY',
  }
}

/** The origin of a node as another source; nothing if there is none. */
function originOf(node: string | null): string {
  return node !== null && URL.canParse(node) ? ` ${new URL(node).origin}` : ''
}

/** A message above a form: the outcome of the last submission. */
export function notice(kind: 'bad' | 'good', sentence: string | undefined): Html | undefined {
  if (sentence === undefined) return undefined
  return html`<p class="notice ${kind}" role="${kind === 'bad' ? 'alert' : 'status'}">${sentence}</p>`
}
