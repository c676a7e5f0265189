/** @jsxRuntime automatic @jsxImportSource preact */
/** Where an encoder sends the broadcast: server, stream key, and a command to try it. The key is not in the page until asked for. */
import { useState } from 'preact/hooks'
import { CopyButton } from '../components/copy-button.tsx'
import { Form, Labelled, Select } from '../components/form.tsx'
import { useOutcome } from '../components/outcome.tsx'
import { api } from '../scripts/api.ts'
import { island } from '../scripts/island.tsx'
import { sendForm } from '../scripts/send-form.ts'

interface StudioKeyProps {
  readonly user_id: string
  readonly action: string
  readonly csrf: string
  /** Undefined: the installation has no embedded media server. */
  readonly server?: string
  /** Shown by the server, without a script. */
  readonly shown?: string
}

const MASK = '••••••••••••••••'

export const StudioKey = island('studio-key', function StudioKey(props: StudioKeyProps) {
  const { user_id, action, csrf, server } = props
  const [shown, setShown] = useState(props.shown)
  const { attempt, notice } = useOutcome()

  const lookUp = async () =>
    shown ?? (await api().helix.getStreamKey.one({ broadcaster_id: user_id })).stream_key
  const reveal = (event: SubmitEvent) => {
    event.preventDefault()
    void attempt(undefined, async () => setShown(shown === undefined ? await lookUp() : undefined))
  }
  const rotate = (event: SubmitEvent) => {
    event.preventDefault()
    const form = event.currentTarget as HTMLFormElement
    void attempt('Your channel has a new stream key. Enter it in your encoder.', async () => {
      await sendForm(form)
      form.closest('details')?.removeAttribute('open')
      setShown(undefined)
    })
  }
  return (
    <>
      {server === undefined ? (
        <p class="quiet small">
          This installation receives broadcasts on another media server. Ask its operator for the server URL.
        </p>
      ) : (
        <div class="value-field">
          <p class="label">Server</p>
          <div class="value">
            <code>{server}</code>
            <CopyButton label="the server URL" text={() => server} />
          </div>
        </div>
      )}
      <div class="value-field">
        <p class="label">Stream key</p>
        <div class="value">
          <code data-key>{shown ?? MASK}</code>
          <Form action={action} fields={{ csrf, decision: 'show' }} onSubmit={reveal}>
            <button
              type="submit"
              class="small-button"
              aria-label={shown === undefined ? 'Show the stream key' : 'Hide the stream key'}
            >
              {shown === undefined ? 'Show' : 'Hide'}
            </button>
          </Form>
          <CopyButton label="the stream key" text={lookUp} />
        </div>
        <p class="quiet small">Anyone with this key can broadcast as you.</p>
      </div>
      {server !== undefined && (
        <div class="value-field">
          <p class="label">Or try it with ffmpeg</p>
          <div class="value tall">
            <code>{commandFor(server, shown ?? '<stream key>')}</code>
            <CopyButton
              label="the command, with the key"
              text={async () => commandFor(server, await lookUp())}
            />
          </div>
        </div>
      )}
      <details class="disclosure">
        <summary>New key…</summary>
        <Form action={action} fields={{ csrf, decision: 'rotate' }} onSubmit={rotate}>
          <Labelled id="grace" label="The old key stays valid" hint="A running broadcast is not interrupted.">
            <Select id="grace" name="grace">
              <option value="0">not any longer</option>
              <option value="3600">for an hour</option>
              <option value="86400">for a day</option>
              <option value="604800">for a week</option>
            </Select>
          </Labelled>
          <button class="warning" type="submit">
            Replace the key
          </button>
        </Form>
      </details>
      {notice}
    </>
  )
})

function commandFor(server: string, key: string): string {
  return `ffmpeg -re -f lavfi -i testsrc2=size=1280x720:rate=30 -f lavfi -i sine -c:v libx264 -preset veryfast -pix_fmt yuv420p -g 60 -c:a aac -f flv '${server}/${key}'`
}
