/** @jsxRuntime automatic @jsxImportSource preact */
import { shortCount } from '../format/numbers.ts'
import { directoryLink, type Named } from './filters.tsx'

/** What pages show of a game. */
export interface ShownGame extends Named {
  /** Of all its live channels; undefined: not known. */
  readonly viewers?: number
}

/** The picture of a game. The name is beside it, so it needs no alternative text. */
export const GameArt = ({ id, lazy = false }: { id: string; lazy?: boolean }) => (
  <img
    class="art"
    src={`/images/games/${id}-285x380.svg`}
    width="285"
    height="380"
    alt=""
    {...(lazy && { loading: 'lazy' as const })}
  />
)

/** Pictures of games that lead to their live channels; to those with drops if that is what is listed. */
export const GameCards = ({
  games,
  onlyDrops = false,
}: {
  readonly games: readonly ShownGame[]
  readonly onlyDrops?: boolean
}) => (
  <ul class="posters">
    {games.map(({ id, name, viewers }) => (
      <li key={id} class="poster">
        <GameArt id={id} lazy />
        <h3>
          <a href={directoryLink({ game: id, drops: onlyDrops ? '1' : undefined })}>{name}</a>
        </h3>
        {viewers !== undefined && <p class="quiet small num">{shortCount(viewers)} watching</p>}
      </li>
    ))}
  </ul>
)
