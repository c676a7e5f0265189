/** @jsxRuntime automatic @jsxImportSource preact */
/** The markers of the latest video: add them while live, with a button or the key m; rename, delete, export. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { videoMoment } from '../../domain/timeline.ts'
import { clockTime } from '../../kit/time/clock-time.ts'
import { Form } from '../components/form.tsx'
import { Chevron } from '../components/icon.tsx'
import { useOutcome } from '../components/outcome.tsx'
import { api } from '../scripts/api.ts'
import { island } from '../scripts/island.tsx'
import { findMarkedVideo, type MarkedVideo, type ShownMarker } from '../scripts/marked-video.ts'
import { sendForm } from '../scripts/send-form.ts'

interface StudioMarkersProps {
  readonly user_id: string
  /** Where forms go. */
  readonly action: string
  readonly csrf: string
  /** Absent: the channel has no video yet. */
  readonly video?: MarkedVideo
  readonly formats: readonly { readonly id: string; readonly name: string }[]
}

const MAX_DESCRIPTION = 140
/** Elements that the key m writes into, or that it means something for. */
const TYPING = 'input, select, textarea, [contenteditable], [role="combobox"]'

export const StudioMarkers = island('studio-markers', function StudioMarkers(props: StudioMarkersProps) {
  const { user_id, action, csrf, formats } = props
  const [video, setVideo] = useState(props.video)
  const { isBusy, attempt, notice } = useOutcome()
  const description = useRef<HTMLInputElement>(null)

  /** Does something, shows what came of it, and reads the list again. */
  const change = (sentence: string, work: () => Promise<unknown>) =>
    attempt(sentence, async () => {
      await work()
      setVideo(await findMarkedVideo(api(), user_id))
    })
  const add = () =>
    change('Marker added.', async () => {
      const text = description.current?.value.trim() ?? ''
      await api().helix.createStreamMarker({ user_id, description: text })
      if (description.current !== null) description.current.value = ''
    })
  const latestAdd = useRef(add)
  latestAdd.current = add

  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const isPlain = !(event.ctrlKey || event.metaKey || event.altKey || event.repeat)
      if (event.key.toLowerCase() !== 'm' || !isPlain) return
      if (event.target instanceof Element && event.target.closest(TYPING) !== null) return
      event.preventDefault()
      void latestAdd.current()
    }
    document.addEventListener('keydown', onKeyDown)
    return () => document.removeEventListener('keydown', onKeyDown)
  }, [])

  const onSubmit = (sentence: string) => (event: SubmitEvent) => {
    event.preventDefault()
    const form = event.currentTarget as HTMLFormElement
    void change(sentence, async () => {
      await sendForm(form)
      form.closest('details')?.removeAttribute('open')
    })
  }
  const markers = [...(video?.markers ?? [])].reverse()
  return (
    <>
      <div class="head">
        <h2 id="markers-heading">Markers</h2>
        <span class="quiet small keyboard-hint">
          press <kbd>M</kbd>
        </span>
        {video !== undefined && markers.length > 0 && (
          <Exports action={action} video_id={video.video_id} formats={formats} />
        )}
      </div>
      <Form
        class="add"
        action={action}
        fields={{ csrf, decision: 'add' }}
        onSubmit={event => {
          event.preventDefault()
          void add()
        }}
      >
        <label class="hidden-text" for="marker-description">
          Description of the marker
        </label>
        <input
          ref={description}
          id="marker-description"
          class="input"
          name="description"
          maxLength={MAX_DESCRIPTION}
          placeholder="What happens now (optional)"
          autocomplete="off"
        />
        <button class="primary" type="submit" disabled={isBusy}>
          Add marker
        </button>
      </Form>
      {notice}
      {video === undefined || markers.length === 0 ? (
        <p class="quiet small">
          Markers are places in your broadcast to find again when you edit it: add one while you are live.
        </p>
      ) : (
        <>
          <Timeline video_id={video.video_id} markers={markers} />
          <ul class="marks num">
            {markers.map(marker => (
              <li key={marker.id}>
                <a href={momentPath(video.video_id, marker)}>{clockTime(marker.position_seconds)}</a>
                <span class="text">{marker.description || <span class="quiet">No description</span>}</span>
                <details class="disclosure">
                  <summary aria-label={`Edit the marker at ${clockTime(marker.position_seconds)}`}>
                    Edit
                  </summary>
                  <div class="edit">
                    <Form
                      action={action}
                      fields={{ csrf, decision: 'rename', marker_id: marker.id }}
                      onSubmit={onSubmit('Marker renamed.')}
                    >
                      <label class="hidden-text" for={`marker-${marker.id}`}>
                        Description
                      </label>
                      <input
                        id={`marker-${marker.id}`}
                        class="input"
                        name="description"
                        value={marker.description}
                        maxLength={MAX_DESCRIPTION}
                        autocomplete="off"
                      />
                      <button type="submit">Rename</button>
                    </Form>
                    <Form
                      action={action}
                      fields={{ csrf, decision: 'delete', marker_id: marker.id }}
                      onSubmit={onSubmit('Marker deleted.')}
                    >
                      <button class="warning" type="submit">
                        Delete
                      </button>
                    </Form>
                  </div>
                </details>
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  )
})

/** The moment of a marker in the video, which plays what is recorded, also while the broadcast runs. */
const momentPath = (video_id: string, { position_seconds }: ShownMarker): string =>
  `/videos/${video_id}?t=${videoMoment(position_seconds)}`

/** Where the markers are, relative to the last one. Pins are for the pointer: the list has the same links for the keyboard. */
function Timeline({ video_id, markers }: { video_id: string; markers: readonly ShownMarker[] }) {
  const end = Math.max(1, ...markers.map(({ position_seconds }) => position_seconds)) * 1.04
  return (
    <svg class="marker-line" viewBox={`0 0 ${end} 10`} preserveAspectRatio="none" aria-hidden="true">
      {markers.map(marker => {
        const line = `M${marker.position_seconds} 0V10`
        return (
          <a key={marker.id} href={momentPath(video_id, marker)} tabindex={-1}>
            <title>{`${clockTime(marker.position_seconds)} ${marker.description}`}</title>
            <path class="target" d={line} vector-effect="non-scaling-stroke" />
            <path d={line} vector-effect="non-scaling-stroke" />
          </a>
        )
      })}
    </svg>
  )
}

function Exports({
  action,
  video_id,
  formats,
}: {
  readonly action: string
  readonly video_id: string
  readonly formats: readonly { readonly id: string; readonly name: string }[]
}) {
  return (
    <details class="dropdown">
      <summary class="button">
        Export
        <Chevron />
      </summary>
      <ul>
        {formats.map(({ id, name }) => (
          <li key={id}>
            <a href={`${action}/export?video_id=${video_id}&format=${id}`} download>
              {name}
            </a>
          </li>
        ))}
      </ul>
    </details>
  )
}
