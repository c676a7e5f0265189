/** @jsxRuntime automatic @jsxImportSource preact */
import { Field, FormPanel, type FormToken } from '../../components/form.tsx'
import type { Page } from '../../render/page.ts'
import { consolePath } from '../paths.ts'

interface LogInView extends FormToken {
  readonly next: string
  readonly violation?: string
  readonly done?: string
  readonly status?: number
}

export const logInPage = ({ csrf, next, violation, done, status = 200 }: LogInView): Page => ({
  title: 'Console',
  status,
  body: (
    <FormPanel
      title="Operator console"
      lead={
        <>
          Log in with an operator token. The initial one is in the file <code>operator-token</code> of the
          data folder.
        </>
      }
      violation={violation}
      done={done}
      action={consolePath('login')}
      fields={{ csrf, next }}
      submit="Log in"
    >
      <Field
        name="password"
        label="Operator token"
        type="password"
        autocomplete="current-password"
        hint="The browser does not keep it: the session ends after 12 hours, with the token, or when you log out."
        focus
      />
    </FormPanel>
  ),
})
