/** @jsxRuntime automatic @jsxImportSource preact */
/** Title, game, language and tags of a channel. */
import { Form, Labelled, Select } from '../components/form.tsx'
import { GameField, type PickedGame } from '../components/game-field.tsx'
import { useOutcome } from '../components/outcome.tsx'
import { TagField } from '../components/tag-field.tsx'
import { island } from '../scripts/island.tsx'
import { sendForm } from '../scripts/send-form.ts'

interface ChannelFormProps {
  readonly action: string
  readonly csrf: string
  readonly title: string
  readonly game: PickedGame
  readonly language: string
  readonly languages: readonly { readonly id: string; readonly name: string }[]
  readonly tags: readonly string[]
}

const MAX_TITLE = 140

export const StudioChannel = island('studio-channel', function StudioChannel(props: ChannelFormProps) {
  const { isBusy, attempt, notice } = useOutcome()
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    const form = event.currentTarget as HTMLFormElement
    void attempt('Saved. Viewers see the change at once.', () => sendForm(form))
  }
  return (
    <Form action={props.action} fields={{ csrf: props.csrf }} onSubmit={submit}>
      <Labelled id="title" label="Title">
        <input
          id="title"
          name="title"
          value={props.title}
          maxLength={MAX_TITLE}
          required
          autocomplete="off"
        />
      </Labelled>
      <GameField game={props.game} />
      <Labelled id="language" label="Language">
        <Select id="language" name="language">
          {props.languages.map(({ id, name }) => (
            <option key={id} value={id} selected={id === props.language}>
              {name}
            </option>
          ))}
        </Select>
      </Labelled>
      <TagField tags={props.tags} />
      <div class="actions">
        <button class="primary" type="submit" disabled={isBusy}>
          Save
        </button>
      </div>
      {notice}
    </Form>
  )
})
