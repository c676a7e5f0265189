/** @jsxRuntime automatic @jsxImportSource preact */
import { Field, type FormToken, Hidden, Notice } from '../components/form.tsx'
import type { Page } from '../page.ts'
import { pathOf } from './paths.ts'

interface LogInView extends FormToken {
  readonly next: string
  readonly violation?: string
  readonly status?: number
}

export const logInPage = ({ csrf, next, violation, status = 200 }: LogInView): Page => ({
  title: 'Console',
  status,
  body: (
    <div class="panel">
      <h1>Operator console</h1>
      <p class="quiet">
        Log in with an operator token. The initial one is in the file <code>operator-token</code> of the data
        folder.
      </p>
      <Notice kind="bad" sentence={violation} />
      <form method="post" action={pathOf('login')}>
        <Hidden name="csrf" value={csrf} />
        <Hidden name="next" value={next} />
        <Field
          name="password"
          label="Operator token"
          type="password"
          autocomplete="current-password"
          hint="The browser does not keep it: the session ends after 12 hours, with the token, or when you log out."
          focus
        />
        <div class="actions stretch">
          <button class="primary" type="submit">
            Log in
          </button>
        </div>
      </form>
    </div>
  ),
})
