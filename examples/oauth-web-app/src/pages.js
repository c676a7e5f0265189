const ENTITIES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

/** HTML whose values are escaped, unless they are HTML of this function. */
function html(parts, ...values) {
  return { html: String.raw({ raw: parts }, ...values.map(rendered)) }
}

function rendered(value) {
  if (Array.isArray(value)) return value.map(rendered).join('')
  return value?.html ?? String(value ?? '').replaceAll(/[&<>"']/g, character => ENTITIES[character])
}

const page = body =>
  html`<!doctype html><html lang="en"><title>My channel</title><main>${body}</main></html>`.html

export const loginPage = (message = '') => page(html`<p>${message}</p><p><a href="/login">Log in</a></p>`)

export const homePage = (name, streams, markers) =>
  page(html`<h1>${name}</h1>
<p>${streams.length === 0 ? 'Offline' : `Live: ${streams[0].title}, ${streams[0].viewer_count} viewers`}</p>
<h2>Markers</h2>
<ul>${markersOf(markers).map(({ position_seconds, description }) => html`<li>${position_seconds} s: ${description}</li>`)}</ul>
<form method="post" action="/logout"><button>Log out</button></form>`)

const markersOf = users => users.flatMap(({ videos }) => videos.flatMap(({ markers }) => markers))
