/** @jsxRuntime automatic @jsxImportSource preact */
/** The tags of a channel. Without a script they are one text field, separated by commas. */
import { useEffect, useState } from 'preact/hooks'
import { Labelled } from './form.tsx'
import { CLOSE, Icon } from './icon.tsx'

const MAX_TAGS = 10
const HINT = `Up to ${MAX_TAGS}, of letters and digits, separated by commas.`

export function TagField({ tags: given }: { tags: readonly string[] }) {
  const [tags, setTags] = useState(given)
  const [text, setText] = useState('')
  const [isLive, setIsLive] = useState(false)
  useEffect(() => setIsLive(true), [])
  if (!isLive)
    return (
      <Labelled id="tags" label="Tags" hint={HINT}>
        <input
          id="tags"
          name="tags"
          value={given.join(', ')}
          aria-describedby="tags-hint"
          autocomplete="off"
        />
      </Labelled>
    )

  const add = () => {
    const added = text.split(/[\s,]+/).filter(tag => tag !== '')
    const all = [...tags, ...added].filter(
      (tag, index, every) => every.findIndex(other => other.toLowerCase() === tag.toLowerCase()) === index,
    )
    setTags(all)
    setText('')
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if ((event.key === 'Enter' || event.key === ',') && text.trim() !== '') {
      event.preventDefault()
      add()
    }
    if (event.key === 'Backspace' && text === '') setTags(tags.slice(0, -1))
  }
  return (
    <Labelled id="tags" label="Tags" hint={HINT}>
      <input type="hidden" name="tags" value={[...tags, text].join(',')} />
      <div class="tag-box">
        {tags.map(tag => (
          <span key={tag} class="chip">
            {tag}
            <button
              type="button"
              aria-label={`Remove the tag ${tag}`}
              onClick={() => setTags(tags.filter(other => other !== tag))}
            >
              <Icon shape={CLOSE} />
            </button>
          </span>
        ))}
        <input
          id="tags"
          value={text}
          aria-describedby="tags-hint"
          autocomplete="off"
          placeholder={tags.length === 0 ? 'Relaxed' : ''}
          disabled={tags.length >= MAX_TAGS}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
          onKeyDown={onKeyDown}
          onBlur={add}
        />
      </div>
    </Labelled>
  )
}
