/** The HTML of all pages. Views are pure functions of their data. */

import type { Problem } from '../contract/problem.ts'
import { isKnownScope } from '../contract/scope.ts'
import { knownFirst } from '../domain/scopes.ts'
import { type Html, html } from '../kit/html.ts'
import type { Connection, Session } from '../store/queries/accounts.ts'
import { notice, type Page } from './layout.ts'
import { describeScope } from './scope-texts.ts'
import { day, minute } from './times.ts'

/** Part of every form. */
export interface FormToken {
  readonly csrf: string
}

const hidden = (name: string, value: string | undefined): Html | undefined =>
  value === undefined ? undefined : html`<input type="hidden" name="${name}" value="${value}">`

const field = (options: {
  readonly name: string
  readonly label: string
  readonly type?: 'text' | 'password'
  readonly value?: string | undefined
  readonly autocomplete: string
  readonly hint?: string
  readonly focus?: boolean
  readonly className?: string
}): Html => {
  const { name, label, type = 'text', value, autocomplete, hint, focus = false, className } = options
  const described = hint === undefined ? undefined : html` aria-describedby="${name}-hint"`
  return html`<div class="field"><label for="${name}">${label}</label><input id="${name}" name="${name}" type="${type}" autocomplete="${autocomplete}" autocapitalize="none" spellcheck="false" required${described}${className === undefined ? undefined : html` class="${className}"`}${value === undefined ? undefined : html` value="${value}"`}${focus ? html` autofocus` : undefined}>${hint === undefined ? undefined : html`<p class="hint" id="${name}-hint">${hint}</p>`}</div>`
}

/** `next` is the page to continue to. */
export function loginPage(
  view: FormToken & {
    readonly next: string
    readonly login?: string | undefined
    readonly violation?: string | undefined
    /** The application that requests authorization. */
    readonly application?: string | undefined
    readonly signUp: boolean
    readonly status?: number
  },
): Page {
  const why =
    view.application === undefined
      ? undefined
      : html`<p class="quiet">to continue to <strong>${view.application}</strong></p>`
  return {
    title: 'Log in',
    status: view.status ?? 200,
    body: html`<div class="card"><h1>Log in</h1>${why}${notice('bad', view.violation)}
<form method="post" action="/login">${hidden('csrf', view.csrf)}${hidden('next', view.next)}
${field({ name: 'login', label: 'User name', value: view.login, autocomplete: 'username', focus: view.login === undefined })}
${field({ name: 'password', label: 'Password', type: 'password', autocomplete: 'current-password', focus: view.login !== undefined })}
<div class="actions"><button class="primary" type="submit">Log in</button></div></form>
${view.signUp ? html`<p class="small quiet who">No account yet? <a href="/signup?next=${encodeURIComponent(view.next)}">Sign up</a></p>` : undefined}</div>`,
  }
}

export function signUpPage(
  view: FormToken & {
    readonly next: string
    readonly login?: string | undefined
    readonly violation?: string | undefined
    readonly status?: number
  },
): Page {
  return {
    title: 'Sign up',
    status: view.status ?? 200,
    body: html`<div class="card"><h1>Sign up</h1>${notice('bad', view.violation)}
<form method="post" action="/signup">${hidden('csrf', view.csrf)}${hidden('next', view.next)}
${field({ name: 'login', label: 'User name', value: view.login, autocomplete: 'username', hint: 'Lowercase letters, digits and underscores, at most 25 characters.', focus: true })}
${field({ name: 'password', label: 'Password', type: 'password', autocomplete: 'new-password', hint: 'At least 8 characters.' })}
<div class="actions"><button class="primary" type="submit">Sign up</button></div></form>
<p class="small quiet who">Have an account? <a href="/login?next=${encodeURIComponent(view.next)}">Log in</a></p></div>`,
  }
}

/** The current user, with a button to switch accounts. */
const identity = (view: FormToken & { readonly display_name: string; readonly next: string }): Html =>
  html`<div class="who"><span class="small quiet">Logged in as <strong>${view.display_name}</strong></span><form method="post" action="/logout">${hidden('csrf', view.csrf)}${hidden('next', view.next)}<button class="plain small" type="submit">Use another account</button></form></div>`

const scopeList = (scopes: readonly string[]): Html =>
  scopes.length === 0
    ? html`<p>See who you are, and nothing else.</p>`
    : html`<ul class="scopes">${knownFirst(scopes).map(scope => html`<li>${describeScope(scope)}${isKnownScope(scope) ? html`<code>${scope}</code>` : undefined}</li>`)}</ul>`

/** Allow or deny access to an application. */
export function consentPage(
  view: FormToken & {
    readonly application: string
    readonly owner: string | null
    readonly scopes: readonly string[]
    readonly display_name: string
    /** The code shown on the device, in the device flow. */
    readonly userCode?: string
    /** A sentence about where the user goes next, or about the device. */
    readonly destination: string
    /** The action and the hidden fields of the form. */
    readonly action: string
    readonly fields: Readonly<Record<string, string>>
    readonly next: string
  },
): Page {
  const owner = view.owner === null ? 'an unknown owner' : view.owner
  return {
    title: `${view.application} asks for access`,
    body: html`<div class="card"><h1>${view.application} asks for access</h1>
${view.userCode === undefined ? undefined : deviceCode(view.userCode)}
<p class="quiet">An application by ${owner}. If you allow it, it will be able to:</p>
${scopeList(view.scopes)}
<form method="post" action="${view.action}">${hidden('csrf', view.csrf)}${Object.entries(view.fields).map(([name, value]) => hidden(name, value))}
<div class="actions"><button class="secondary" type="submit" name="decision" value="deny">Deny</button><button class="primary" type="submit" name="decision" value="allow">Allow</button></div></form>
<p class="small quiet below">${view.destination} You can revoke access at any time on <a href="/account">your account page</a>.</p>
${identity(view)}</div>`,
  }
}

/** A victim of phishing, who was sent a link, has no device that shows this code. */
const deviceCode = (code: string): Html =>
  html`<p>Your device must be showing this code: <strong class="user-code">${code}</strong> If someone sent you this link or code, choose Deny.</p>`

/** Enter the code shown on a device. */
export function activatePage(
  view: FormToken & {
    readonly code?: string | undefined
    readonly violation?: string | undefined
    readonly display_name: string
  },
): Page {
  return {
    title: 'Connect a device',
    status: view.violation === undefined ? 200 : 400,
    body: html`<div class="card"><h1>Connect a device</h1><p class="quiet">Enter the code shown on your device. Only connect devices that belong to you.</p>${notice('bad', view.violation)}
<form method="get" action="/activate">${field({ name: 'device-code', label: 'Code', value: view.code, autocomplete: 'off', className: 'code', hint: 'Eight letters, not case-sensitive.', focus: true })}
<div class="actions"><button class="primary" type="submit">Continue</button></div></form>
${identity({ ...view, next: '/activate' })}</div>`,
  }
}

/** The final page of a flow. */
export function donePage(title: string, sentence: string): Page {
  return { title, body: html`<div class="card"><h1>${title}</h1>${notice('good', sentence)}</div>` }
}

export function problemPage(status: number, title: string, sentence: string): Page {
  return {
    title,
    status,
    body: html`<div class="card"><h1>${title}</h1><p>${sentence}</p></div>`,
  }
}

const FAILURES: ReadonlyMap<number, string> = new Map([
  [400, 'Invalid request'],
  [413, 'Form too large'],
  [429, 'Too many requests'],
  [500, 'Something went wrong'],
  [503, 'Temporarily unavailable'],
])

/** The error page for a problem. */
export function failurePage({ status, message }: Problem, requestId: string): Page {
  const title = FAILURES.get(status) ?? 'Request failed'
  if (status === 429) {
    const sentence = 'Too many requests from your network. Wait a minute and try again.'
    return problemPage(status, title, sentence)
  }
  if (status < 500) {
    const advice = 'Go back and try again. If an application sent you here, its link may be wrong.'
    return problemPage(status, title, `${message.replace(/\.?$/, '.')} ${advice}`)
  }
  const sentence =
    status === 503
      ? 'The server cannot handle the request right now. Try again in a moment.'
      : `The server encountered an error. If it happens again, report the request ID ${requestId} to the operator of this server.`
  return problemPage(status, title, sentence)
}

/** The form failed the CSRF check. */
export function expiredFormPage(): Page {
  return problemPage(
    403,
    'Invalid or expired form',
    'The form came from another site, it has expired, or your browser does not store cookies for this site (over plain HTTP, browsers store them only for localhost). Reload the page and try again.',
  )
}

export function accountPage(
  view: FormToken & {
    readonly display_name: string
    readonly login: string
    readonly connections: readonly Connection[]
    readonly sessions: readonly (Session & { readonly isThis: boolean })[]
    readonly violation?: string | undefined
    readonly done?: string | undefined
  },
): Page {
  const { csrf } = view
  const connections =
    view.connections.length === 0
      ? html`<p class="quiet">No application is connected to your account.</p>`
      : html`<ul class="rows">${view.connections.map(
          each =>
            html`<li><div class="what"><strong>${each.name}</strong><div class="small quiet">${each.owner === null ? undefined : html`by ${each.owner} · `}since ${day(each.created_at)}${knownFirst(each.scopes).map(scope => html`<br>${describeScope(scope)}`)}</div></div><form method="post" action="/account/disconnect">${hidden('csrf', csrf)}${hidden('client_id', each.client_id)}<button class="warning" type="submit" aria-label="Disconnect ${each.name}">Disconnect</button></form></li>`,
        )}</ul>`
  const sessions = html`<ul class="rows">${view.sessions.map(
    each =>
      html`<li><div class="what"><strong>${each.browser}</strong><div class="small quiet">${each.isThis ? 'this browser · ' : undefined}since ${minute(each.created_at)}, last seen ${minute(each.seen_at)}</div></div><form method="post" action="/account/end-session">${hidden('csrf', csrf)}${hidden('session_id', each.id)}<button class="secondary" type="submit" aria-label="Log out ${each.browser}, since ${each.created_at}">Log out</button></form></li>`,
  )}</ul>`
  return {
    title: 'Your account',
    width: 'wide',
    status: view.violation === undefined ? 200 : 400,
    body: html`<h1>${view.display_name}</h1><p class="quiet">${view.login}</p>${notice('bad', view.violation)}${notice('good', view.done)}
<section class="card" aria-labelledby="applications-heading"><h2 id="applications-heading">Connected applications</h2>${connections}</section>
<section class="card" aria-labelledby="sessions-heading"><h2 id="sessions-heading">Active sessions</h2>${sessions}</section>
<section class="card" aria-labelledby="password-heading"><h2 id="password-heading">Change your password</h2><p class="quiet small">This revokes the tokens of all applications and logs out all other browsers.</p>
<form method="post" action="/account/password">${hidden('csrf', csrf)}<input type="hidden" name="username" autocomplete="username" value="${view.login}">
${field({ name: 'current', label: 'Current password', type: 'password', autocomplete: 'current-password' })}
${field({ name: 'password', label: 'New password', type: 'password', autocomplete: 'new-password', hint: 'At least 8 characters.' })}
<div class="actions"><button class="primary" type="submit">Change password</button></div></form></section>
<form method="post" action="/logout">${hidden('csrf', csrf)}${hidden('next', '/login')}<button class="plain" type="submit">Log out</button></form>`,
  }
}
