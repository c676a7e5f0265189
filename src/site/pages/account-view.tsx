/** @jsxRuntime automatic @jsxImportSource preact */
/** The account page: what belongs to the user, connected applications, sessions, password. */

import { describeScope } from '../../contract/scope-texts.ts'
import { knownFirst } from '../../domain/oauth/scopes.ts'
import type { Connection, Session } from '../../store/queries/accounts.ts'
import { Avatar } from '../components/avatar.tsx'
import { Field, Form, type FormToken, Notice } from '../components/form.tsx'
import { day, minute } from '../format/times.ts'
import type { Page } from '../render/page.ts'
import { NewPassword } from './login-view.tsx'

interface AccountView extends FormToken {
  readonly user_id: string
  readonly display_name: string
  readonly login: string
  readonly connections: readonly Connection[]
  readonly sessions: readonly (Session & { readonly isThis: boolean })[]
  readonly violation?: string | undefined
  readonly done?: string | undefined
}

export function accountPage(view: AccountView): Page {
  return {
    title: 'Your account',
    style: 'account',
    section: 'account',
    status: view.violation === undefined ? 200 : 400,
    body: (
      <>
        <div class="person">
          <Avatar user_id={view.user_id} size={64} />
          <div class="names">
            <h1>{view.display_name}</h1>
            <p class="quiet">{view.login}</p>
          </div>
          <nav class="actions" aria-label="Your pages">
            <a class="button" href={`/${view.login}`}>
              Channel
            </a>
            <a class="button" href="/studio">
              Studio
            </a>
            <a class="button" href="/drops">
              Drops
            </a>
          </nav>
        </div>
        <Notice kind="bad" sentence={view.violation} />
        <Notice kind="good" sentence={view.done} />
        <section class="panel" aria-labelledby="applications-heading">
          <h2 id="applications-heading">Connected applications</h2>
          <Connections {...view} />
        </section>
        <section class="panel" aria-labelledby="sessions-heading">
          <h2 id="sessions-heading">Active sessions</h2>
          <Sessions {...view} />
        </section>
        <section class="panel" aria-labelledby="password-heading">
          <h2 id="password-heading">Change your password</h2>
          <p class="quiet small">
            This revokes the tokens of all applications and logs out all other browsers.
          </p>
          <Form action="/account/password" fields={{ csrf: view.csrf }}>
            <input type="hidden" name="username" autocomplete="username" value={view.login} />
            <Field name="current" label="Current password" type="password" autocomplete="current-password" />
            <NewPassword label="New password" />
            <div class="actions">
              <button class="primary" type="submit">
                Change password
              </button>
            </div>
          </Form>
        </section>
      </>
    ),
  }
}

const Connections = ({ connections, csrf }: AccountView) =>
  connections.length === 0 ? (
    <p class="quiet">No application is connected to your account.</p>
  ) : (
    <ul class="rows">
      {connections.map(each => (
        <li key={each.client_id}>
          <div class="what">
            <strong>{each.name}</strong>
            <div class="small quiet">
              {each.owner !== null && `by ${each.owner} · `}since {day(each.created_at)}
              {knownFirst(each.scopes).map(scope => (
                <div key={scope}>{describeScope(scope)}</div>
              ))}
            </div>
          </div>
          <Form action="/account/disconnect" fields={{ csrf, client_id: each.client_id }}>
            <button class="warning" type="submit" aria-label={`Disconnect ${each.name}`}>
              Disconnect
            </button>
          </Form>
        </li>
      ))}
    </ul>
  )

const Sessions = ({ sessions, csrf }: AccountView) => (
  <ul class="rows">
    {sessions.map(each => (
      <li key={each.id}>
        <div class="what">
          <strong>{each.browser}</strong>
          <div class="small quiet">
            {each.isThis && 'this browser · '}since {minute(each.created_at)}, last seen{' '}
            {minute(each.seen_at)}
          </div>
        </div>
        {each.isThis ? (
          <Form action="/logout" fields={{ csrf }}>
            <button type="submit">Log out</button>
          </Form>
        ) : (
          <Form action="/account/end-session" fields={{ csrf, session_id: each.id }}>
            <button type="submit" aria-label={`End session: ${each.browser}, since ${each.created_at}`}>
              End session
            </button>
          </Form>
        )}
      </li>
    ))}
  </ul>
)
