/** @jsxRuntime automatic @jsxImportSource preact */
/** What moves in the reference: the filter of its menu, the buttons that copy or choose a language, the forms that try an operation. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { addCopyButtons, copyFollowedLinks } from '../docs/copy.ts'
import { type Filter, makeFilter } from '../docs/filter.ts'
import { followReader } from '../docs/follow-reader.ts'
import { highlight } from '../docs/highlight.ts'
import { addLanguageButtons } from '../docs/languages.ts'
import type { Reader } from '../docs/reader.ts'
import { addTryButtons } from '../docs/try-buttons.ts'
import { island } from '../scripts/island.tsx'

export const Docs = island('docs', function Docs(reader: Reader) {
  const field = useRef<HTMLInputElement>(null)
  const filter = useRef<Filter>(null)
  const [text, setText] = useState('')
  const [count, setCount] = useState<number>()

  useEffect(() => {
    filter.current = makeFilter()
    setCount(0)
    addLanguageButtons()
    addCopyButtons(document)
    copyFollowedLinks()
    addTryButtons(reader)
    highlight(document)
    return followReader({
      field: () => field.current,
      clear: () => change(''),
      first: () => filter.current?.first(),
    })
  }, [])

  const change = (wanted: string) => {
    setText(wanted)
    setCount(filter.current?.show(wanted) ?? 0)
  }

  return (
    <div class={count === undefined ? 'filter waiting' : 'filter'}>
      <label for="filter">Filter</label>
      <input
        ref={field}
        id="filter"
        type="search"
        value={text}
        placeholder="streams, PATCH, user:edit"
        autocomplete="off"
        spellcheck={false}
        aria-keyshortcuts="/"
        onInput={event => change(event.currentTarget.value)}
      />
      <span class="key" aria-hidden="true">
        /
      </span>
      <p id="found" role="status">
        {text.trim() !== '' && `${count} ${count === 1 ? 'result' : 'results'}`}
      </p>
    </div>
  )
})
