/** @jsxRuntime automatic @jsxImportSource preact */
import type { ComponentChildren } from 'preact'
import { withQuery } from '../format/with-query.ts'

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
}

/** The address of the directory with these filters. */
export function directoryLink(filter: {
  readonly game?: string | undefined
  readonly language?: string | undefined
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

/** Links that limit the directory to a game and a language. */
export function Filters({ games, languages, game, language }: Filtering) {
  return (
    <nav class="filters" aria-label="Filters">
      <div class="choices">
        <Choice href={directoryLink({ language: language?.id })} isCurrent={game === undefined}>
          All games
        </Choice>
        {games.map(({ id, name }) => (
          <Choice
            key={id}
            href={directoryLink({ game: id, language: language?.id })}
            isCurrent={id === game?.id}
          >
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
              <a href={directoryLink({ game: game?.id })}>All languages</a>
            </li>
            {languages.map(({ id, name }) => (
              <li key={id}>
                <a
                  href={directoryLink({ game: game?.id, language: id })}
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
