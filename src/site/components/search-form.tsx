/** @jsxRuntime automatic @jsxImportSource preact */
import { Icon, SEARCH } from './icon.tsx'

/** The search in the header. `field` has what a script adds to its text field. */
export const SearchForm = ({
  query,
  field = {},
}: {
  readonly query: string
  readonly field?: Readonly<Record<string, unknown>>
}) => (
  <form method="get" action="/">
    <Icon shape={SEARCH} />
    <input
      type="search"
      name="q"
      // Not `value`: what was typed before the script has started is kept.
      defaultValue={query}
      maxLength={100}
      aria-label="Search channels and games"
      placeholder="Search channels and games"
      autocomplete="off"
      {...field}
    />
  </form>
)
