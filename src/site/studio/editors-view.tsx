/** @jsxRuntime automatic @jsxImportSource preact */
/** The editors of a channel. */
import type { ChannelEditor } from '../../contract/resources/channel.ts'
import { Avatar } from '../components/avatar.tsx'
import { Form, LITERAL } from '../components/form.tsx'
import { Ago } from '../components/time.tsx'
import type { Page } from '../render/page.ts'
import { studioPath } from './desk.ts'
import { type StudioView, studioPage } from './studio-frame.tsx'

interface EditorsView extends StudioView {
  readonly editors: readonly ChannelEditor[]
}

export const editorsPage = (view: EditorsView): Page =>
  studioPage(view, 'editors', {
    body: (
      <div class="studio">
        <div class="stack">
          <Editors {...view} />
        </div>
        <div class="stack side">
          <section class="panel" aria-labelledby="may-heading">
            <h2 id="may-heading">What editors may do</h2>
            <ul class="plain-list">
              <li>See your broadcast and what your encoder sends.</li>
              <li>Add, rename, delete and export markers.</li>
            </ul>
            <p class="quiet small">
              Title, stream key, videos and editors are up to you. Editors find your channel in their studio.
            </p>
          </section>
        </div>
      </div>
    ),
  })

const Editors = ({ editors, channel, csrf, now }: EditorsView) => {
  const action = `${studioPath(channel.login)}/editors`
  return (
    <section class="panel" id="editors" aria-labelledby="editors-heading">
      <h2 id="editors-heading">Editors</h2>
      {editors.length === 0 ? (
        <p class="quiet small">No editors yet. Add a person who sets markers while you play.</p>
      ) : (
        <ul class="rows">
          {editors.map(({ user_id, user_name, created_at }) => (
            <li key={user_id}>
              <Avatar user_id={user_id} size={32} />
              <div class="what">
                <strong>{user_name}</strong>
                <div class="small quiet">
                  added <Ago iso={created_at} now={now} />
                </div>
              </div>
              <Form action={action} fields={{ csrf, decision: 'remove', user_id }}>
                <button class="small-button" type="submit" aria-label={`Remove the editor ${user_name}`}>
                  Remove
                </button>
              </Form>
            </li>
          ))}
        </ul>
      )}
      <Form class="add" action={action} fields={{ csrf, decision: 'add' }}>
        <label class="hidden-text" for="editor-login">
          Name of the user
        </label>
        <input
          id="editor-login"
          class="input"
          name="login"
          maxLength={25}
          required
          {...LITERAL}
          placeholder="User name"
        />
        <button type="submit">Add editor</button>
      </Form>
    </section>
  )
}
