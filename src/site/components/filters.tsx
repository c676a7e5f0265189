/** @jsxRuntime automatic @jsxImportSource preact */
import type { ComponentChildren } from 'preact'
import { withQuery } from '../format/with-query.ts'
import type { KnownDrops } from '../scripts/drops-channels.ts'

export interface Named {
  readonly id: string
  readonly name: string
}

export interface Filtering {
  readonly games: readonly Named[]
  readonly languages: readonly Named[]
  /** The game and the language that the list is limited to. */
  readonly game?: Named
  readonly language?: Named
  readonly drops: KnownDrops
  /** Whether the list is limited to channels that count for drops. */
  readonly onlyDrops: boolean
}

/** The address of the directory with these filters. */
export function directoryLink(filter: {
  readonly game?: string | undefined
  readonly language?: string | undefined
  /** `1`: only channels that count for drops. */
  readonly drops?: '1' | undefined
  readonly after?: string | undefined
}): string {
  return withQuery('/', filter)
}

const Choice = ({
  href,
  isCurrent,
  children,
}: {
  readonly href: string
  readonly isCurrent: boolean
  readonly children: ComponentChildren
}) => (
  <a class="chip" href={href} {...(isCurrent && { 'aria-current': 'true' })}>
    {children}
  </a>
)

/** What the list is limited to, for links that change a part of it. */
export const chosenFilter = ({
  game,
  language,
  onlyDrops,
}: Omit<Filtering, 'games' | 'languages' | 'drops'>) => ({
  game: game?.id,
  language: language?.id,
  drops: onlyDrops ? ('1' as const) : undefined,
})

/** Links that limit the directory to a game, a language, and channels with drops. */
export function Filters({ games, languages, drops, ...filtering }: Filtering) {
  const { game, language, onlyDrops } = filtering
  const chosen = chosenFilter(filtering)
  return (
    <nav class="filters" aria-label="Filters">
      <div class="choices">
        {(onlyDrops || drops.games.length > 0) && (
          <Choice
            href={directoryLink({ ...chosen, drops: onlyDrops ? undefined : '1' })}
            isCurrent={onlyDrops}
          >
            Drops
          </Choice>
        )}
        <Choice href={directoryLink({ ...chosen, game: undefined })} isCurrent={game === undefined}>
          All games
        </Choice>
        {games.map(({ id, name }) => (
          <Choice key={id} href={directoryLink({ ...chosen, game: id })} isCurrent={id === game?.id}>
            {name}
          </Choice>
        ))}
      </div>
      {languages.length > 1 && (
        <details class="dropdown">
          <summary class="chip" {...(language && { 'aria-current': 'true' })}>
            {language?.name ?? 'Language'}
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
