import type { ComponentChildren } from 'preact'
import type { ShownStream } from '../components/stream-card.tsx'
import { LiveGrid } from '../islands/live-grid.tsx'
import type { Page } from '../page.ts'

interface Named {
  readonly id: string
  readonly name: string
}

export interface HomeView {
  readonly streams: readonly ShownStream[]
  readonly cursor: string | undefined
  readonly games: readonly Named[]
  readonly languages: readonly Named[]
  /** The game and the language that the list is limited to. */
  readonly game: Named | undefined
  readonly language: Named | undefined
  readonly isTop: boolean
  readonly now: number
  /** Whether no channel is live at all. */
  readonly isEmpty: boolean
  readonly signUp: boolean
}

/** Who is live, most viewers first. */
export function homePage(view: HomeView): Page {
  const { game, language } = view
  const heading = game === undefined ? 'Live now' : game.name
  return {
    title: game?.name ?? 'Strand',
    width: 'full',
    section: 'live',
    body: view.isEmpty ? (
      <Welcome signUp={view.signUp} />
    ) : (
      <>
        <div class="directory">
          <h1>{heading}</h1>
          <Filters {...view} />
        </div>
        {view.streams.length === 0 ? (
          <p class="quiet">
            No channel is live with {game ? game.name : 'this filter'}
            {language && ` in ${language.name}`} right now. <a href="/">All live channels</a>
          </p>
        ) : (
          <LiveGrid
            streams={view.streams}
            {...(view.cursor !== undefined && { cursor: view.cursor })}
            {...(game && { game_id: game.id })}
            {...(language && { language: language.id })}
            isTop={view.isTop}
            now={view.now}
          />
        )}
      </>
    ),
  }
}

const Chip = ({
  href,
  isCurrent,
  children,
}: {
  href: string
  isCurrent: boolean
  children: ComponentChildren
}) => (
  <a class="chip" href={href} {...(isCurrent && { 'aria-current': 'true' })}>
    {children}
  </a>
)

function Filters({ games, languages, game, language }: HomeView) {
  const link = (game_id?: string, language_id?: string) => {
    const query = [game_id && `game=${game_id}`, language_id && `language=${language_id}`].filter(Boolean)
    return query.length === 0 ? '/' : `/?${query.join('&')}`
  }
  return (
    <nav class="filters" aria-label="Filters">
      <Chip href={link(undefined, language?.id)} isCurrent={game === undefined}>
        All games
      </Chip>
      {games.map(each => (
        <Chip key={each.id} href={link(each.id, language?.id)} isCurrent={each.id === game?.id}>
          {each.name}
        </Chip>
      ))}
      {languages.length > 1 && (
        <>
          <span class="divider" />
          {languages.map(each => (
            <Chip
              key={each.id}
              href={link(game?.id, each.id === language?.id ? undefined : each.id)}
              isCurrent={each.id === language?.id}
            >
              {each.name}
            </Chip>
          ))}
        </>
      )}
    </nav>
  )
}

/** An installation without a live channel: what to do next. */
const Welcome = ({ signUp }: { signUp: boolean }) => (
  <div class="welcome">
    <h1>No channel is live yet</h1>
    <p class="quiet">This page shows every live channel, most viewers first. To see one here:</p>
    <ol class="steps">
      <li class="panel">
        <h2>Get an account</h2>
        <p>
          {signUp ? (
            <>
              <a href="/signup?next=/studio">Sign up</a> with a user name and a password.
            </>
          ) : (
            <>
              The operator creates it: <code>strand user create &lt;login&gt;</code>. Then{' '}
              <a href="/login?next=/studio">log in</a>.
            </>
          )}
        </p>
      </li>
      <li class="panel">
        <h2>Open the studio</h2>
        <p>
          <a href="/studio">The studio</a> has the server and the stream key for OBS, and a line for ffmpeg.
        </p>
      </li>
      <li class="panel">
        <h2>Go live</h2>
        <p>The channel appears here within two seconds, and plays on its page.</p>
      </li>
    </ol>
    <p class="quiet">
      Building something? <a href="/docs">The API reference</a> lists every operation.
    </p>
  </div>
)
