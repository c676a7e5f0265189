/** @jsxRuntime automatic @jsxImportSource preact */
import { withQuery } from '../format/with-query.ts'
import type { KnownDrops } from '../scripts/drops-channels.ts'
import { Chevron } from './icon.tsx'

export interface Named {
  readonly id: string
  readonly name: string
}

export interface Filtering {
  readonly languages: readonly Named[]
  /** The game and the language that the list is limited to. */
  readonly game?: Named
  readonly language?: Named
  readonly drops: KnownDrops
  /** Whether the list is limited to channels that count for drops. */
  readonly onlyDrops: boolean
}

/** The address of live channels with these filters: the home page, or the page of a game. */
export function directoryLink({
  game,
  ...filter
}: {
  readonly game?: string | undefined
  readonly language?: string | undefined
  /** `1`: only channels that count for drops. */
  readonly drops?: '1' | undefined
  readonly after?: string | undefined
}): string {
  return withQuery(game === undefined ? '/' : `/games/${encodeURIComponent(game)}`, filter)
}

/** What the list is limited to, for links that change a part of it. */
export const chosenFilter = ({ game, language, onlyDrops }: Omit<Filtering, 'languages' | 'drops'>) => ({
  game: game?.id,
  language: language?.id,
  drops: onlyDrops ? ('1' as const) : undefined,
})

/** Links that limit live channels to a language, and to channels with drops. */
export function Filters({ languages, drops, ...filtering }: Filtering) {
  const { language, onlyDrops } = filtering
  const chosen = chosenFilter(filtering)
  return (
    <nav class="filters" aria-label="Filters">
      {(onlyDrops || drops.games.length > 0) && (
        <a
          class="chip"
          href={directoryLink({ ...chosen, drops: onlyDrops ? undefined : '1' })}
          {...(onlyDrops && { 'aria-current': 'true' })}
        >
          Drops
        </a>
      )}
      {languages.length > 1 && (
        <details class="dropdown">
          <summary class="chip" {...(language && { 'aria-current': 'true' })}>
            {language?.name ?? 'Language'}
            <Chevron />
          </summary>
          <ul>
            <li>
              <a href={directoryLink({ ...chosen, language: undefined })}>All languages</a>
            </li>
            {languages.map(({ id, name }) => (
              <li key={id}>
                <a
                  href={directoryLink({ ...chosen, language: id })}
                  {...(id === language?.id && { 'aria-current': 'true' })}
                >
                  {name}
                </a>
              </li>
            ))}
          </ul>
        </details>
      )}
    </nav>
  )
}
