/**
 * The reference as one self-contained HTML page: every operation with its access, input, answer, failures and an example, and
 * every type of event.
 * Generated from the contract, for the families that a listener serves.
 */

import { createHash } from 'node:crypto'
import type { Access } from '../contract/access.ts'
import type { EventType } from '../contract/events/event-type.ts'
import { EVENT_TYPES } from '../contract/events/event-types.ts'
import { exampleNotification } from '../contract/events/notification.ts'
import { operations } from '../contract/index.ts'
import { type Family, familyOf, type Operation } from '../contract/operation.ts'
import { type ProblemName, problems } from '../contract/problem.ts'
import { type Html, html, Html as Markup } from '../kit/html.ts'
import { ICON_URL, MARK } from '../kit/mark.ts'
import { must } from '../kit/must.ts'
import { type AnswerField, answerFields } from './answer-fields.ts'
import { curlLine } from './curl.ts'
import {
  conditionFields,
  EVENTS_INTRODUCTION,
  EVENTS_TITLE,
  subscribersInWords,
  transportsInWords,
} from './events.ts'
import { inputsOf } from './inputs.ts'
import { accessInWords, INTRODUCTIONS, TITLES, typeInWords } from './markdown.ts'
import { statusesOf } from './openapi.ts'
import { SCRIPT } from './script.ts'
import { STYLE } from './style.ts'

export interface ReferenceOptions {
  readonly version: string
  /** Whether to include the operations of demo mode. */
  readonly demo: boolean
  /** Whether the server is in strict mode. */
  readonly strict: boolean
  /** The base URL under which a family is served. */
  baseUrlOf(family: Family): string
}

const digest = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

/** Nothing may be loaded, sent or framed; the policy allows the script and the style sheet by their digests. */
export const REFERENCE_HEADERS: Readonly<Record<string, string>> = {
  'Content-Type': 'text/html; charset=utf-8',
  'Cache-Control': 'no-cache',
  'Content-Security-Policy': `default-src 'none'; style-src ${digest(STYLE)}; script-src ${digest(SCRIPT)}; img-src data:; form-action 'none'; frame-ancestors 'none'; base-uri 'none'`,
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
}

/** The page for a set of families; each page is rendered once. */
export function referencePages(options: ReferenceOptions): (families: readonly Family[]) => string {
  const made = new Map<string, string>()
  return families => {
    const name = families.join()
    const page = made.get(name) ?? referencePage(families, options)
    made.set(name, page)
    return page
  }
}

function referencePage(families: readonly Family[], options: ReferenceOptions): string {
  const shown = families.map(family => ({
    family,
    members: operations.filter(each => familyOf(each) === family && (options.demo || !each.demoOnly)),
  }))
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>API reference · Strand</title>
<link rel="icon" href="${ICON_URL}">
<style>${new Markup(STYLE)}</style>
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<div class="frame">
<nav aria-label="Operations"><div class="rail">
<div class="brand">${MARK}<span>Strand</span><span class="version">${options.version}</span></div>
<details class="menu" open><summary>Operations</summary>
<div class="search" hidden><label for="filter">Filter</label><input id="filter" type="search" autocomplete="off" spellcheck="false" aria-keyshortcuts="/"><p id="found" role="status"></p></div>
${shown.map(({ family, members }) => [navigation(family, members), family === 'helix' && eventNavigation()])}
</details>
</div></nav>
<main id="content">
<h1>API reference</h1>
<p class="lead">All operations of this server, generated from the declarations that it runs on. Also available <a href="/openapi.json">as OpenAPI</a>.</p>
${basics(families, options)}
${shown.map(({ family, members }) => [familySection(family, members, options), family === 'helix' && eventsSection()])}
<footer>Strand ${options.version}. Press <code>/</code> to filter.</footer>
</main>
</div>
<script>${new Markup(SCRIPT)}</script>
</body>
</html>
`.text
}

function basics(families: readonly Family[], { baseUrlOf, strict }: ReferenceOptions): Html {
  const urls = [...new Set(families.map(baseUrlOf))]
  const isPublic = families.includes('helix')
  return html`<dl class="basics">
<div><dt>Base URL</dt><dd>${urls.map(url => html`<code>${url}</code> `)}</dd></div>
<div><dt>Tokens</dt><dd>${prose('Send the token as `Authorization: Bearer <token>`. Each operation lists the kind of token and the scope that it requires.')}</dd></div>
${isPublic && strict && html`<div><dt>Strict mode</dt><dd>${prose('On: requests that production would refuse are refused. Every request under `/helix` needs a token and its `Client-Id`.')}</dd></div>`}
${isPublic && html`<div><dt>Rate limits</dt><dd>${prose('Each request under `/helix` costs one point of a token bucket that refills within a minute. `Ratelimit-Remaining` is the number of points left, `Ratelimit-Reset` the time when the bucket is full again. With an empty bucket the answer is 429.')}</dd></div>`}
<div><dt>Pagination</dt><dd>${prose('To get the next page of a list, send `pagination.cursor` as `after`. The last page has no cursor.')}</dd></div>
</dl>`
}

function navigation(family: Family, members: readonly Operation[]): Html {
  return html`<div class="group"><h2><a href="#${family}">${TITLES[family]}</a></h2>
${[...byResource(family, members)].map(
  ([resource, each]) => html`<div class="group">${resource !== '' && html`<h3>${resource}</h3>`}
<ul>${each.map(({ id, method }) => html`<li><a href="#${id}"><span class="verb ${method}">${shortVerb(method)}</span>${id}</a></li>`)}</ul></div>`,
)}</div>`
}

/** The control API is long: its operations are grouped by the first segment of their path. */
function byResource(family: Family, members: readonly Operation[]): Map<string, readonly Operation[]> {
  if (family !== 'control') return new Map([['', members]])
  return Map.groupBy(members, ({ path }) => must(path.split('/')[2], `the resource of ${path}`))
}

const shortVerb = (method: string) => (method === 'DELETE' ? 'DEL' : method)

function familySection(family: Family, members: readonly Operation[], options: ReferenceOptions): Html {
  const sections = [...byResource(family, members).values()].flat()
  return html`<section class="family" aria-labelledby="${family}">
<h2 id="${family}">${TITLES[family]}</h2>
<p>${prose(INTRODUCTIONS[family])}</p>
${sections.map(each => article(each, options))}
</section>`
}

function eventNavigation(): Html {
  return html`<div class="group"><h2><a href="#events">${EVENTS_TITLE}</a></h2>
<ul>${EVENT_TYPES.map(({ type }) => html`<li><a href="#${type}">${type}</a></li>`)}</ul></div>`
}

function eventsSection(): Html {
  return html`<section class="family" aria-labelledby="events">
<h2 id="events">${EVENTS_TITLE}</h2>
<p>${prose(EVENTS_INTRODUCTION)}</p>
${EVENT_TYPES.map(eventArticle)}
</section>`
}

function eventArticle(each: EventType): Html {
  const { type, version, summary, access } = each
  const scope = access.kind === 'editor' ? access.scope : ''
  return html`<article id="${type}" aria-labelledby="${type}-title" data-words="event ${summary} ${scope}">
<header><h3 id="${type}-title"><a href="#${type}">${type}</a></h3>
<p class="route"><code>version ${version}</code></p></header>
<div class="words">
<p>${prose(summary)}</p>
<dl class="facts">
<div><dt>Transport</dt><dd>${transportsInWords(each)}</dd></div>
<div><dt>Subscribers</dt><dd>${prose(subscribersInWords(each))}</dd></div>
</dl>
${rows('Condition', fields(conditionFields(each)))}
${rows('Event', fields(answerFields(each.event)))}
</div>
<div class="examples"><div class="inner">
${figure('Notification', JSON.stringify(exampleNotification(each), null, 2))}
</div></div>
</article>`
}

function article(operation: Operation, { baseUrlOf, strict }: ReferenceOptions): Html {
  const { id, method, path, summary, description, example } = operation
  const status = operation.status ?? 200
  return html`<article id="${id}" aria-labelledby="${id}-title" data-words="${method} ${path} ${summary} ${scopesOf(operation.access)}">
<header><h3 id="${id}-title"><a href="#${id}">${id}</a></h3>
<p class="route"><span class="verb ${method}">${method}</span><code>${path}</code>${operation.demoOnly && html`<span class="tag">demo</span>`}</p></header>
<div class="words">
<p>${prose(summary)}${description !== undefined && html` ${prose(description)}`}</p>
<dl class="facts">
<div><dt>Token</dt><dd>${prose(accessInWords(operation.access))}</dd></div>
${familyOf(operation) === 'helix' && html`<div><dt>Rate limit</dt><dd>one point</dd></div>`}
${operation.exactlyOne && html`<div><dt>Exactly one</dt><dd>${prose(operation.exactlyOne.map(name => `\`${name}\``).join(' or '))}</dd></div>`}
</dl>
${rows('Parameters', parameters(operation))}
${rows(`Answer ${status}`, answer(operation))}
${operation.returns === undefined && html`<h4>Answer ${status}</h4><p>${prose(bodyInWords(operation))}</p>`}
${rows('Failures', failures(operation), 'failures')}
</div>
<div class="examples"><div class="inner">
${figure('Request', curlLine(operation, baseUrlOf(familyOf(operation)), strict))}
${example.answer !== undefined && figure('Answer', exampleText(operation))}
</div></div>
</article>`
}

/** A body that is not one JSON document. */
function bodyInWords({ answerFile, answerLines }: Operation): string {
  if (answerLines !== undefined) return 'A stream of JSON lines.'
  if (answerFile === undefined) return 'No body.'
  const types = answerFile.map(each => `\`${each}\``).join(', ')
  return `A file, with its name in \`Content-Disposition\`: ${types}.`
}

function exampleText({ answerFile, example }: Operation): string {
  return answerFile === undefined ? JSON.stringify(example.answer, null, 2) : String(example.answer)
}

function scopesOf(access: Access): string {
  return access.kind === 'token' ? access.scopes.join(' ') : ''
}

function rows(title: string, content: readonly Html[], kind = ''): Html | false {
  return content.length > 0 && html`<h4>${title}</h4><dl class="rows ${kind}">${content}</dl>`
}

function parameters(operation: Operation): Html[] {
  return inputsOf(operation).map(
    ({ name, place, schema, required, description }) =>
      html`<div><dt><code>${name}</code><span>${place}</span>${required && html`<span class="must">required</span>`}</dt><dd>${prose(typeInWords(schema, place))}${description !== '' && html`. ${prose(description)}`}</dd></div>`,
  )
}

function answer({ returns }: Operation): Html[] {
  return returns === undefined ? [] : fields(answerFields(returns))
}

function fields(all: readonly AnswerField[]): Html[] {
  return all.map(
    ({ name, type, notes, optional }) =>
      html`<div><dt><code>${name}</code><span>${prose(type)}</span>${optional && html`<span>optional</span>`}</dt>${notes !== '' && html`<dd>${prose(notes)}</dd>`}</div>`,
  )
}

function failures(operation: Operation): Html[] {
  return [...statusesOf(operation)].flatMap(([status, names]) =>
    names.map(
      name =>
        html`<div><dt><span class="status">${status}</span><code>${name}</code></dt><dd>${messageOf(name)}</dd></div>`,
    ),
  )
}

/** The message of a problem, with an ellipsis for each detail. */
function messageOf(name: ProblemName): string {
  const messageOf = problems[name].message as (...details: string[]) => string
  return messageOf(...Array.from({ length: messageOf.length }, () => '…'))
}

function figure(title: string, text: string): Html {
  return html`<figure class="example"><figcaption>${title}</figcaption><pre><code>${text}</code></pre></figure>`
}

/** Text with Markdown's marks for code and emphasis. */
function prose(text: string): Html[] {
  return text.split(/(`[^`]+`|\*[^*]+\*)/).map(piece => {
    if (/^`.+`$/.test(piece)) return html`<code>${piece.slice(1, -1)}</code>`
    if (/^\*.+\*$/.test(piece)) return html`<em>${piece.slice(1, -1)}</em>`
    return html`${piece}`
  })
}
