/** @jsxRuntime automatic @jsxImportSource preact */
/** What an application or a device asks for, and the user's decision. */
import { isKnownScope } from '../../contract/scope.ts'
import { describeScope } from '../../contract/scope-texts.ts'
import { knownFirst } from '../../domain/oauth/scopes.ts'
import { Field, Form, FormPanel, type FormToken, Notice } from '../components/form.tsx'
import type { Page } from '../render/page.ts'

/** The current user, with a button to switch accounts. */
const Identity = ({
  csrf,
  display_name,
  next,
}: FormToken & { readonly display_name: string; readonly next: string }) => (
  <div class="who">
    <span class="small quiet">
      Logged in as <strong>{display_name}</strong>
    </span>
    <Form action="/logout" fields={{ csrf, next }}>
      <button class="plain small" type="submit">
        Use another account
      </button>
    </Form>
  </div>
)

const Scopes = ({ scopes }: { scopes: readonly string[] }) =>
  scopes.length === 0 ? (
    <p>See who you are, and nothing else.</p>
  ) : (
    <ul class="scopes">
      {knownFirst(scopes).map(scope => (
        <li key={scope}>
          {describeScope(scope)}
          {isKnownScope(scope) && <code>{scope}</code>}
        </li>
      ))}
    </ul>
  )

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
  return {
    title: `${view.application} asks for access`,
    body: (
      <div class="panel">
        <h1>{view.application} asks for access</h1>
        {view.userCode !== undefined && <DeviceCode code={view.userCode} />}
        <p class="quiet">
          An application by {view.owner ?? 'an unknown owner'}. If you allow it, it will be able to:
        </p>
        <Scopes scopes={view.scopes} />
        <Form action={view.action} fields={{ csrf: view.csrf, ...view.fields }}>
          <div class="actions stretch">
            <button type="submit" name="decision" value="deny">
              Deny
            </button>
            <button class="primary" type="submit" name="decision" value="allow">
              Allow
            </button>
          </div>
        </Form>
        <p class="small quiet below">
          {view.destination} You can revoke access at any time on <a href="/account">your account page</a>.
        </p>
        <Identity {...view} />
      </div>
    ),
  }
}

/** A victim of phishing, who was sent a link, has no device that shows this code. */
const DeviceCode = ({ code }: { code: string }) => (
  <p>
    Your device must be showing this code: <strong class="user-code">{code}</strong> If someone sent you this
    link or code, choose Deny.
  </p>
)

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
    body: (
      <FormPanel
        title="Connect a device"
        lead="Enter the code shown on your device. Only connect devices that belong to you."
        violation={view.violation}
        method="get"
        action="/activate"
        submit="Continue"
        below={<Identity {...view} next="/activate" />}
      >
        <Field
          name="device-code"
          label="Code"
          value={view.code}
          autocomplete="off"
          className="code"
          hint="Eight letters, not case-sensitive."
          focus
        />
      </FormPanel>
    ),
  }
}

/** The final page of a flow. */
export function donePage(title: string, sentence: string): Page {
  return {
    title,
    body: (
      <div class="panel">
        <h1>{title}</h1>
        <Notice kind="good" sentence={sentence} />
        <div class="actions">
          <a class="button" href="/account">
            Your account
          </a>
          <a class="button" href="/">
            Live channels
          </a>
        </div>
      </div>
    ),
  }
}
