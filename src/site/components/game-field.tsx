/** @jsxRuntime automatic @jsxImportSource preact */
/** The game of a channel: its name, with suggestions while it is typed. Without a script it is a text field. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { api } from '../scripts/api.ts'
import { Labelled } from './form.tsx'

export interface PickedGame {
  /** Empty: no game, or one that was typed and not picked. */
  readonly id: string
  readonly name: string
}

const PAUSE_MILLISECONDS = 150
const SUGGESTIONS = 6

export function GameField({ game }: { game: PickedGame }) {
  const [picked, setPicked] = useState(game)
  const [found, setFound] = useState<readonly PickedGame[]>([])
  const [active, setActive] = useState(-1)
  const [isOpen, setIsOpen] = useState(false)
  const typed = useRef<string | undefined>(undefined)

  useEffect(() => {
    const query = typed.current?.trim()
    if (!query) {
      setFound([])
      return
    }
    let isStale = false
    const timer = setTimeout(async () => {
      try {
        const { data } = await api().helix.searchCategories({ query, first: SUGGESTIONS })
        if (!isStale) setFound(data.map(({ id, name }) => ({ id, name })))
      } catch {
        // The name can still be typed in full.
      }
    }, PAUSE_MILLISECONDS)
    return () => {
      isStale = true
      clearTimeout(timer)
    }
  }, [picked.name])

  const pick = (choice: PickedGame) => {
    typed.current = undefined
    setPicked(choice)
    setIsOpen(false)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape') setIsOpen(false)
    if (!isOpen || found.length === 0) return
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined) {
      event.preventDefault()
      setActive((active + step + found.length) % found.length)
    }
    const choice = found[active]
    if (event.key === 'Enter' && choice !== undefined) {
      event.preventDefault()
      pick(choice)
    }
  }
  const isListed = isOpen && found.length > 0
  return (
    <Labelled id="game" label="Game" hint="Empty: no game." className="field suggestions">
      <input type="hidden" name="game_id" value={picked.id} />
      <input
        id="game"
        name="game"
        role="combobox"
        aria-autocomplete="list"
        aria-expanded={isListed}
        aria-controls="game-list"
        {...(isListed && active >= 0 && { 'aria-activedescendant': `game-${active}` })}
        aria-describedby="game-hint"
        autocomplete="off"
        spellcheck={false}
        value={picked.name}
        onInput={({ currentTarget }) => {
          typed.current = currentTarget.value
          setPicked({ id: '', name: currentTarget.value })
          setActive(-1)
          setIsOpen(true)
        }}
        onKeyDown={onKeyDown}
        onBlur={() => setIsOpen(false)}
      />
      <div id="game-list" role="listbox" aria-label="Games" hidden={!isListed}>
        {found.map((choice, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the text field
          // biome-ignore lint/a11y/useFocusableInteractive: the text field keeps the focus
          <div
            key={choice.id}
            id={`game-${index}`}
            role="option"
            aria-selected={index === active}
            // Before the text field loses the focus.
            onMouseDown={event => event.preventDefault()}
            onClick={() => pick(choice)}
          >
            {choice.name}
          </div>
        ))}
      </div>
    </Labelled>
  )
}
