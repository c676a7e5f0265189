/** @jsxRuntime automatic @jsxImportSource preact */
/** The editors of a channel. */
import type { ChannelEditor } from '../../contract/resources/channel.ts'
import { Avatar } from '../components/avatar.tsx'
import { Form, LITERAL } from '../components/form.tsx'
import { CHECK, Icon } from '../components/icon.tsx'
import { Ago } from '../components/time.tsx'
import type { Page } from '../render/page.ts'
import { studioPath } from './studio-context.ts'
import { type StudioView, studioPage } from './studio-frame.tsx'

interface EditorsView extends StudioView {
  readonly editors: readonly ChannelEditor[]
}

export const editorsPage = (view: EditorsView): Page =>
  studioPage(view, 'editors', {
    body: (
      <div class="studio halves">
        <Editors {...view} />
        <Permissions />
      </div>
    ),
  })

/** What a broadcaster can do in the studio, and whether editors can do it too (D-156). */
const TASKS: readonly (readonly [task: string, isForEditors: boolean])[] = [
  ['Watch the preview, and what the encoder sends', true],
  ['Add, rename, delete and export markers', true],
  ['See the list of videos', true],
  ['Change title, game, language and tags', false],
  ['Rename and delete videos', false],
  ['Use and replace the stream key', false],
  ['Add and remove editors', false],
]

const Permissions = () => (
  <section class="panel" aria-labelledby="may-heading">
    <h2 id="may-heading">What editors may do</h2>
    <table class="permissions">
      <thead>
        <tr>
          <th scope="col">Task</th>
          <th scope="col">You</th>
          <th scope="col">Editors</th>
        </tr>
      </thead>
      <tbody>
        {TASKS.map(([task, isForEditors]) => (
          <tr key={task}>
            <th scope="row">{task}</th>
            <Allowed is />
            <Allowed is={isForEditors} />
          </tr>
        ))}
      </tbody>
    </table>
    <p class="quiet small">Editors find your channel in their studio.</p>
  </section>
)

const Allowed = ({ is }: { is: boolean }) => (
  <td class={is ? 'good' : 'quiet'}>
    {is ? <Icon shape={CHECK} /> : <span aria-hidden="true">–</span>}
    <span class="hidden-text">{is ? 'yes' : 'no'}</span>
  </td>
)

const Editors = ({ editors, channel, csrf, now }: EditorsView) => {
  const action = `${studioPath(channel.login)}/editors`
  return (
    <section class="panel" id="editors" aria-labelledby="editors-heading">
      <h2 id="editors-heading">Editors</h2>
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
    </section>
  )
}
