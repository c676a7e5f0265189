/** @jsxRuntime automatic @jsxImportSource preact */
/** What a viewer has earned. */

import { minute } from '../format/times.ts'
import type { Page } from '../render/page.ts'

interface Drop {
  readonly id: string
  readonly benefit: string
  readonly game_id: string
  readonly game: string | undefined
  readonly isFulfilled: boolean
  readonly granted_at: string
  readonly updated_at: string
}

interface DropsView {
  /** Newest first. */
  readonly drops: readonly Drop[]
  /** Whether this is the first page. */
  readonly isFirst: boolean
  readonly cursor: string | undefined
}

export function dropsPage({ drops, isFirst, cursor }: DropsView): Page {
  return {
    title: 'Drops',
    style: 'drops',
    section: 'drops',
    body: (
      <>
        <h1>Drops</h1>
        {drops.length === 0 ? (
          <Empty isFirst={isFirst} />
        ) : (
          <>
            <p class="quiet lead">
              Rewards that you earned by watching. A game delivers a reward to the account that you connected
              with it.
            </p>
            <ul class="drops">
              {drops.map(drop => (
                <DropRow key={drop.id} {...drop} />
              ))}
            </ul>
          </>
        )}
        {(cursor !== undefined || !isFirst) && (
          <nav class="actions pages" aria-label="Pages">
            {!isFirst && (
              <a class="button" href="/drops">
                Newest
              </a>
            )}
            {cursor !== undefined && (
              <a class="button" rel="next" href={`/drops?after=${encodeURIComponent(cursor)}`}>
                Older
              </a>
            )}
          </nav>
        )}
      </>
    ),
  }
}

const DropRow = ({ benefit, game, game_id, isFulfilled, granted_at, updated_at }: Drop) => (
  <li class="panel">
    <img
      src={`/images/games/${game_id}-144x192.svg`}
      width="72"
      height="96"
      alt=""
      loading="lazy"
      decoding="async"
    />
    <div class="what">
      <h2>{benefit}</h2>
      <p class="quiet">
        {game === undefined ? 'A game that no longer exists' : <a href={`/?game=${game_id}`}>{game}</a>}
      </p>
      <p class="small quiet num">
        Earned <time datetime={granted_at}>{minute(granted_at)}</time>
        {isFulfilled && (
          <>
            {' '}
            · delivered <time datetime={updated_at}>{minute(updated_at)}</time>
          </>
        )}
      </p>
    </div>
    <span class={isFulfilled ? 'state good' : 'state waiting'}>
      {isFulfilled ? 'Delivered' : 'On its way'}
    </span>
  </li>
)

const Empty = ({ isFirst }: { isFirst: boolean }) => (
  <div class="panel none">
    <h2>{isFirst ? 'No drops yet' : 'No older drops'}</h2>
    <p class="quiet">
      Games give rewards to people who watch. Watch a channel whose tags or title mention drops; what you earn
      is listed here.
    </p>
    <p class="actions">
      <a class="button primary" href="/">
        See who is live
      </a>
    </p>
  </div>
)
