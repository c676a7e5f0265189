import { ICON_URL } from '../../kit/mark.ts'
import { pageHeaders } from './headers.ts'

/** Nothing else of the site can be served yet, so this page brings its style along. */
const STYLE = `:root { color-scheme: light dark }
body { margin: 0; min-height: 100vh; display: grid; place-content: center; justify-items: center; text-align: center;
  font: 1rem/1.5 ui-sans-serif, system-ui, sans-serif; background: light-dark(#f6f6f9, #0e0f14); color: light-dark(#14151a, #f2f3f7) }
img { width: 3rem; height: 3rem; animation: wait 1.6s ease-in-out infinite alternate }
h1 { margin: 1rem 0 0; font-size: 1.5rem }
p { margin: 0.25rem 1rem 0; color: light-dark(#5b6070, #a4a9b8) }
@keyframes wait { to { opacity: 0.35 } }
@media (prefers-reduced-motion: reduce) { img { animation: none } }`

const HTML = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex"><title>Starting · Strand</title><link rel="icon" href="${ICON_URL}">
<style>${STYLE}</style></head>
<body><main><img src="${ICON_URL}" alt=""><h1>Strand is starting</h1>
<p role="status">This page reloads by itself.</p></main></body></html>
`

const SECONDS = '1'

/** For a browser while the store is being opened. Proxies see a 503; browsers load the same address again after a second. */
export function answerStarting(): Response {
  const headers = pageHeaders({ hasScript: false })
  const policy = headers['Content-Security-Policy']?.replace("style-src 'self'", "style-src 'unsafe-inline'")
  return new Response(HTML, {
    status: 503,
    headers: {
      ...headers,
      'Content-Security-Policy': policy ?? '',
      'Retry-After': SECONDS,
      Refresh: SECONDS,
    },
  })
}
