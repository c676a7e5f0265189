/** @jsxRuntime automatic @jsxImportSource preact */
import { Field, FormPanel, type FormToken } from '../components/form.tsx'
import type { Page } from '../render/page.ts'

interface LogInView extends FormToken {
  /** The page to continue to. */
  readonly next: string
  readonly login?: string | undefined
  readonly violation?: string | undefined
  readonly status?: number
}

interface LogInChoices {
  /** The application that requests authorization. */
  readonly application?: string | undefined
  readonly signUp: boolean
  /** What was done before, if that led here. */
  readonly done?: string | undefined
}

export const loginPage = (view: LogInView & LogInChoices): Page => ({
  title: 'Log in',
  status: view.status ?? 200,
  body: (
    <FormPanel
      title="Log in"
      lead={
        view.application && (
          <>
            to continue to <strong>{view.application}</strong>
          </>
        )
      }
      violation={view.violation}
      done={view.done}
      action="/login"
      fields={{ csrf: view.csrf, next: view.next }}
      submit="Log in"
      below={
        view.signUp && (
          <p class="small quiet who">
            No account yet? <a href={`/signup?next=${encodeURIComponent(view.next)}`}>Sign up</a>
          </p>
        )
      }
    >
      <Field
        name="login"
        label="User name"
        value={view.login}
        autocomplete="username"
        focus={view.login === undefined}
      />
      <Field
        name="password"
        label="Password"
        type="password"
        autocomplete="current-password"
        focus={view.login !== undefined}
      />
    </FormPanel>
  ),
})

export const signUpPage = (view: LogInView): Page => ({
  title: 'Sign up',
  status: view.status ?? 200,
  body: (
    <FormPanel
      title="Sign up"
      lead="Follow channels, collect drops, and broadcast live."
      violation={view.violation}
      action="/signup"
      fields={{ csrf: view.csrf, next: view.next }}
      submit="Sign up"
      below={
        <p class="small quiet who">
          Have an account? <a href={`/login?next=${encodeURIComponent(view.next)}`}>Log in</a>
        </p>
      }
    >
      <Field
        name="login"
        label="User name"
        value={view.login}
        autocomplete="username"
        hint="Lowercase letters, digits and underscores, at most 25 characters."
        focus
      />
      <NewPassword label="Password" />
    </FormPanel>
  ),
})

interface NewPasswordView extends FormToken {
  /** The secret of the link. */
  readonly reset: string
  readonly login: string
  readonly violation?: string | undefined
  readonly status?: number
}

export const newPasswordPage = (view: NewPasswordView): Page => ({
  title: 'Set a new password',
  status: view.status ?? 200,
  body: (
    <FormPanel
      title="Set a new password"
      lead={
        <>
          for <strong>{view.login}</strong>. This logs out all browsers and revokes the tokens of all
          applications.
        </>
      }
      violation={view.violation}
      action="/account/new-password"
      fields={{ csrf: view.csrf, reset: view.reset }}
      submit="Set password"
    >
      <input type="hidden" name="username" autocomplete="username" value={view.login} />
      <NewPassword label="New password" />
    </FormPanel>
  ),
})

export const NewPassword = ({ label }: { label: string }) => (
  <Field
    name="password"
    label={label}
    type="password"
    autocomplete="new-password"
    hint="At least 8 characters."
  />
)
