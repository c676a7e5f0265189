/** @jsxRuntime automatic @jsxImportSource preact */
/** The account page: profile, appearance, sessions, connected applications, password. */

import { MAX_DESCRIPTION } from '../../contract/resources/user.ts'
import { describeScope } from '../../contract/scope-texts.ts'
import { knownFirst } from '../../domain/oauth/scopes.ts'
import type { ProfileLink } from '../../domain/profile-link.ts'
import type { Connection, Session } from '../../store/queries/accounts.ts'
import { Avatar } from '../components/avatar.tsx'
import { Field, Form, type FormToken, Labelled, LITERAL, Notice, Select } from '../components/form.tsx'
import { Chevron } from '../components/icon.tsx'
import { Ago } from '../components/time.tsx'
import { languagesWith } from '../format/languages.ts'
import type { Page, Theme } from '../render/page.ts'
import { LINK_FIELDS } from './link-fields.ts'
import { NewPassword } from './login-view.tsx'

interface AccountView extends FormToken {
  readonly user_id: string
  readonly display_name: string
  readonly login: string
  readonly profile: ProfileFields
  /** Undefined: as the system of the browser. */
  readonly theme: Theme | undefined
  readonly connections: readonly Connection[]
  readonly sessions: readonly (Session & { readonly isThis: boolean })[]
  readonly now: number
  readonly violation?: string | undefined
  readonly done?: string | undefined
}

/** The form of the profile, as it is stored or as it was sent. */
interface ProfileFields {
  readonly display_name: string
  readonly description: string
  readonly language: string
  /** One for each row of the form. */
  readonly links: readonly ProfileLink[]
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
        <div class="sections">
          <nav class="contents" aria-label="Sections">
            {SECTIONS.map(({ id, title }) => (
              <a key={id} href={`#${id}`}>
                {title}
              </a>
            ))}
          </nav>
          <div>
            {SECTIONS.map(({ id, title, about, Body }) => (
              <section key={id} class="panel" id={id} aria-labelledby={`${id}-heading`}>
                <h2 id={`${id}-heading`}>{title}</h2>
                <p class="quiet small">{about}</p>
                <Body {...view} />
              </section>
            ))}
          </div>
        </div>
      </>
    ),
  }
}

interface LinkFieldProps {
  readonly place: number
  readonly link: ProfileLink | undefined
}

function LinkField({ place, link }: LinkFieldProps) {
  const [labelField, urlField] = LINK_FIELDS[place] ?? []
  return (
    <div class="field link-field">
      <input
        name={labelField}
        value={link?.label ?? ''}
        placeholder="Label"
        autocomplete="off"
        aria-label={`Label of link ${place + 1}`}
      />
      <input
        name={urlField}
        value={link?.url ?? ''}
        placeholder="https://"
        inputMode="url"
        {...LITERAL}
        aria-label={`Address of link ${place + 1}`}
      />
    </div>
  )
}

/** The links that are there, and one more. The others unfold. */
const countShown = (links: readonly ProfileLink[]): number =>
  Math.min(LINK_FIELDS.length, 2 + links.findLastIndex(({ label, url }) => label !== '' || url !== ''))

function Profile({ profile, csrf }: AccountView) {
  const shown = countShown(profile.links)
  return (
    <Form action="/account/profile" fields={{ csrf }}>
      <Labelled
        id="display_name"
        label="Display name"
        hint="Your user name, with capital letters where you like them."
      >
        <input
          id="display_name"
          name="display_name"
          value={profile.display_name}
          required
          {...LITERAL}
          aria-describedby="display_name-hint"
        />
      </Labelled>
      <Labelled id="description" label="Bio" hint={`At most ${MAX_DESCRIPTION} characters.`}>
        <textarea id="description" name="description" rows={4} aria-describedby="description-hint">
          {profile.description}
        </textarea>
      </Labelled>
      <Labelled id="language" label="Language of your broadcasts">
        <Select id="language" name="language">
          {languagesWith(profile.language).map(({ id, name }) => (
            <option key={id} value={id} selected={id === profile.language}>
              {name}
            </option>
          ))}
        </Select>
      </Labelled>
      <fieldset class="link-fields">
        <legend>Links</legend>
        <p class="hint">Shown on your channel. Addresses begin with https://.</p>
        {LINK_FIELDS.slice(0, shown).map((_, place) => (
          <LinkField key={place} place={place} link={profile.links[place]} />
        ))}
        {shown < LINK_FIELDS.length && (
          <details>
            <summary class="button small-button">
              More links
              <Chevron />
            </summary>
            {LINK_FIELDS.slice(shown).map((_, place) => (
              <LinkField key={place} place={shown + place} link={undefined} />
            ))}
          </details>
        )}
      </fieldset>
      <div class="actions">
        <button class="primary" type="submit">
          Save profile
        </button>
      </div>
    </Form>
  )
}

const THEMES = [
  ['auto', 'As this device'],
  ['light', 'Light'],
  ['dark', 'Dark'],
] as const

const Appearance = ({ theme, csrf }: AccountView) => (
  <Form action="/account/appearance" fields={{ csrf }}>
    <fieldset class="choices">
      <legend>Theme</legend>
      {THEMES.map(([value, title]) => (
        <label key={value}>
          <input type="radio" name="theme" value={value} checked={value === (theme ?? 'auto')} />
          {title}
        </label>
      ))}
    </fieldset>
    <div class="actions">
      <button class="primary" type="submit">
        Save theme
      </button>
    </div>
  </Form>
)

const Password = ({ login, csrf }: AccountView) => (
  <Form action="/account/password" fields={{ csrf }}>
    <input type="hidden" name="username" autocomplete="username" value={login} />
    <Field name="current" label="Current password" type="password" autocomplete="current-password" />
    <NewPassword label="New password" />
    <div class="actions">
      <button class="primary" type="submit">
        Change password
      </button>
    </div>
  </Form>
)

const Connections = ({ connections, csrf, now }: AccountView) =>
  connections.length === 0 ? (
    <p class="quiet">No application is connected to your account.</p>
  ) : (
    <ul class="rows">
      {connections.map(each => (
        <li key={each.client_id}>
          <div class="what">
            <strong>{each.name}</strong>
            <div class="small quiet">
              {each.owner !== null && `by ${each.owner} · `}connected <Ago iso={each.created_at} now={now} />
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

const Sessions = ({ sessions, csrf, now }: AccountView) => (
  <>
    <ul class="rows">
      {sessions.map(each => (
        <li key={each.id}>
          <div class="what">
            <strong>{each.browser}</strong>
            {each.isThis && <span class="current">this browser</span>}
            <div class="small quiet">
              Logged in <Ago iso={each.created_at} now={now} />, last seen{' '}
              <Ago iso={each.seen_at} now={now} />
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
    {sessions.length > 1 && (
      <div class="end-others">
        <Form action="/account/end-other-sessions" fields={{ csrf }}>
          <button class="warning" type="submit">
            End all other sessions
          </button>
        </Form>
      </div>
    )}
  </>
)

/** The parts of the page, in their order. */
const SECTIONS = [
  { id: 'profile', title: 'Profile', about: 'What others see on your channel.', Body: Profile },
  { id: 'appearance', title: 'Appearance', about: 'How the site looks in this browser.', Body: Appearance },
  { id: 'sessions', title: 'Sessions', about: 'The browsers in which you are logged in.', Body: Sessions },
  {
    id: 'applications',
    title: 'Connected applications',
    about: 'What they may do with your account.',
    Body: Connections,
  },
  {
    id: 'change-password',
    title: 'Password',
    about: 'A new password revokes the tokens of all applications and logs out all other browsers.',
    Body: Password,
  },
] as const
