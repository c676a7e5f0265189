/** @jsxRuntime automatic @jsxImportSource preact */
/** The search in the header, with suggestions while a person types. Without a script it is a form. */
import { useEffect, useState } from 'preact/hooks'
import { SearchForm } from '../components/search-form.tsx'
import { SUGGESTION_LIST, type Suggestion, Suggestions, suggestionId } from '../components/suggestions.tsx'
import { withQuery } from '../format/with-query.ts'
import { island } from '../scripts/island.tsx'

/** How long nothing is typed before suggestions are asked for. */
const PAUSE_MILLISECONDS = 150

export const SearchField = island('search-field', function SearchField({ query }: { query: string }) {
  const [typed, setTyped] = useState<string | undefined>(undefined)
  const [suggestions, setSuggestions] = useState<readonly Suggestion[]>([])
  const [active, setActive] = useState(-1)
  const [isOpen, setIsOpen] = useState(false)
  const isListed = isOpen && suggestions.length > 0

  useEffect(() => {
    const text = typed?.trim()
    if (!text) {
      setSuggestions([])
      return
    }
    const stop = new AbortController()
    const timer = setTimeout(async () => {
      const found = await ask(text, stop.signal)
      if (stop.signal.aborted || found === undefined) return
      setSuggestions(found)
      setActive(-1)
    }, PAUSE_MILLISECONDS)
    return () => {
      clearTimeout(timer)
      stop.abort()
    }
  }, [typed])

  const onKeyDown = (event: KeyboardEvent) => {
    if (!isListed || event.isComposing) return
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    const choice = suggestions[active]
    if (step !== undefined) {
      // The text field itself is a step too.
      const count = suggestions.length + 1
      setActive(((active + 1 + step + count) % count) - 1)
    } else if (event.key === 'Escape') setIsOpen(false)
    else if (event.key === 'Enter' && choice !== undefined) location.assign(choice.href)
    else return
    event.preventDefault()
  }
  return (
    <>
      <SearchForm
        query={query}
        field={{
          role: 'combobox',
          'aria-autocomplete': 'list',
          'aria-expanded': isListed,
          'aria-controls': SUGGESTION_LIST,
          ...(isListed && active >= 0 && { 'aria-activedescendant': suggestionId(active) }),
          onInput: ({ currentTarget }: { currentTarget: HTMLInputElement }) => {
            setTyped(currentTarget.value)
            setIsOpen(true)
          },
          onFocus: () => setIsOpen(true),
          onBlur: () => setIsOpen(false),
          onKeyDown,
        }}
      />
      <Suggestions suggestions={suggestions} active={active} isOpen={isListed} />
    </>
  )
})

/** Undefined: there is no answer. The form still works. */
async function ask(text: string, signal: AbortSignal): Promise<readonly Suggestion[] | undefined> {
  try {
    const response = await fetch(withQuery('/search/suggestions', { q: text }), { signal })
    if (!response.ok) return undefined
    return ((await response.json()) as { suggestions: Suggestion[] }).suggestions
  } catch {
    return undefined
  }
}
