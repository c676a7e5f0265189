/** @jsxRuntime automatic @jsxImportSource preact */
/** What a search suggests, below its text field, which keeps the focus. */
export interface Suggestion {
  readonly href: string
  readonly name: string
  readonly about: string
  readonly image: string
  /** Of a live channel. */
  readonly viewers?: string
}

export const SUGGESTION_LIST = 'search-list'
export const suggestionId = (index: number): string => `search-option-${index}`

export const Suggestions = ({
  suggestions,
  active,
  isOpen,
}: {
  readonly suggestions: readonly Suggestion[]
  readonly active: number
  readonly isOpen: boolean
}) => (
  <div id={SUGGESTION_LIST} class="search-list" role="listbox" aria-label="Suggestions" hidden={!isOpen}>
    {suggestions.map(({ href, name, about, image, viewers }, index) => (
      <a
        key={href}
        id={suggestionId(index)}
        class="search-option"
        role="option"
        aria-selected={index === active}
        tabIndex={-1}
        href={href}
        // The text field would lose the focus, and the list would close before the click.
        onMouseDown={event => event.preventDefault()}
      >
        <img class="search-image" src={image} width="32" height="32" alt="" />
        <span class="search-name">{name}</span>
        <span class="search-about">
          {about}
          {viewers !== undefined && <span class="search-live num">{viewers} watching</span>}
        </span>
      </a>
    ))}
  </div>
)
