/** @jsxRuntime automatic @jsxImportSource preact */
import { Field, type FormToken, Hidden, Notice } from '../components/form.tsx'
import type { Page } from '../page.ts'

interface LogInView extends FormToken {
  /** The page to continue to. */
  readonly next: string
  readonly login?: string | undefined
  readonly violation?: string | undefined
  readonly status?: number
}

export function loginPage(
  view: LogInView & {
    /** The application that requests authorization. */
    readonly application?: string | undefined
    readonly signUp: boolean
  },
): Page {
  return {
    title: 'Log in',
    status: view.status ?? 200,
    body: (
      <div class="panel">
        <h1>Log in</h1>
        {view.application !== undefined && (
          <p class="quiet">
            to continue to <strong>{view.application}</strong>
          </p>
        )}
        <Notice kind="bad" sentence={view.violation} />
        <form method="post" action="/login">
          <Hidden name="csrf" value={view.csrf} />
          <Hidden name="next" value={view.next} />
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
          <div class="actions stretch">
            <button class="primary" type="submit">
              Log in
            </button>
          </div>
        </form>
        {view.signUp && (
          <p class="small quiet who">
            No account yet? <a href={`/signup?next=${encodeURIComponent(view.next)}`}>Sign up</a>
          </p>
        )}
      </div>
    ),
  }
}

export function signUpPage(view: LogInView): Page {
  return {
    title: 'Sign up',
    status: view.status ?? 200,
    body: (
      <div class="panel">
        <h1>Sign up</h1>
        <p class="quiet">Follow channels, collect drops, and broadcast live.</p>
        <Notice kind="bad" sentence={view.violation} />
        <form method="post" action="/signup">
          <Hidden name="csrf" value={view.csrf} />
          <Hidden name="next" value={view.next} />
          <Field
            name="login"
            label="User name"
            value={view.login}
            autocomplete="username"
            hint="Lowercase letters, digits and underscores, at most 25 characters."
            focus
          />
          <Field
            name="password"
            label="Password"
            type="password"
            autocomplete="new-password"
            hint="At least 8 characters."
          />
          <div class="actions stretch">
            <button class="primary" type="submit">
              Sign up
            </button>
          </div>
        </form>
        <p class="small quiet who">
          Have an account? <a href={`/login?next=${encodeURIComponent(view.next)}`}>Log in</a>
        </p>
      </div>
    ),
  }
}
