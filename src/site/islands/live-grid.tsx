/** @jsxRuntime automatic @jsxImportSource preact */
/** The cards of live channels: more of them on scroll, and their numbers as they change. */
import type { ComponentProps } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { chosenFilter, directoryLink, type Filtering, Filters } from '../components/filters.tsx'
import { GameCards, type ShownGame } from '../components/game-card.tsx'
import { lookedUp, refreshed, toLiveList, withMore } from '../components/live-list.ts'
import { CardSkeleton, type ShownStream, StreamCard } from '../components/stream-card.tsx'
import { api } from '../scripts/api.ts'
import { DropsChannels } from '../scripts/drops-channels.ts'
import { useEveryFewSeconds } from '../scripts/every-few-seconds.ts'
import { island } from '../scripts/island.tsx'
import { useServerTime } from '../scripts/server-time.ts'

interface LiveGridProps extends Filtering {
  readonly heading: string
  /** Games to choose from, shown between the cards. */
  readonly games: readonly ShownGame[]
  /** The channel that is shown large, above the grid. */
  readonly featured?: string
  readonly streams: readonly ShownStream[]
  /** Where the next page begins; absent on the last one. */
  readonly cursor?: string
  /** Whether the first card is the first of the whole list. */
  readonly isTop: boolean
  /** The time of the server, in milliseconds since 1970. */
  readonly now: number
}

const PAGE = 24
const MAX_PAGE = 100
const REFRESH_MILLISECONDS = 1000
const MINUTE_MILLISECONDS = 60_000
/** Cards that dropped out of the first hundred are looked up less often. */
const LOOK_UP_EVERY = 4
/** The next page is loaded so far before the end is visible. */
const AHEAD = '1200px'
/** Cards before the games. */
const BEFORE_GAMES = 8
/** Places of cards that are being loaded. */
const SKELETONS = [1, 2, 3, 4]

export const LiveGrid = island('live-grid', function LiveGrid(props: LiveGridProps) {
  const [list, setList] = useState(() => toLiveList(props.streams))
  const [cursor, setCursor] = useState(props.cursor)
  const now = useServerTime(props.now, MINUTE_MILLISECONDS)
  const more = useRef<HTMLAnchorElement>(null)
  const isLoading = useRef(false)
  const [skeletons, setSkeletons] = useState<readonly number[]>([])
  const [hasFailed, setHasFailed] = useState(false)
  const filter = gridFilter(props)
  const drops = useMemo(() => new DropsChannels(props.drops, props.streams), [])
  const shown = useRef(list)
  shown.current = list

  /** The streams that belong into the list, when it is known which of them count for drops. */
  const keepShown = async (streams: readonly ShownStream[]) => {
    await drops.ask(streams)
    return props.onlyDrops ? streams.filter(each => drops.has(each)) : streams
  }

  const load = async () => {
    if (isLoading.current || cursor === undefined) return
    isLoading.current = true
    setSkeletons(SKELETONS)
    try {
      const page = await api().helix.getStreams({ ...filter, first: PAGE, after: cursor })
      const added = await keepShown(page.data)
      setList(before => withMore(before, added))
      setCursor(page.pagination.cursor)
    } catch {
      // The link still leads to the next page.
      setHasFailed(true)
    }
    isLoading.current = false
    setSkeletons([])
  }

  useEffect(() => {
    // On the page of a game, what is below the list would never be reached.
    if (more.current === null || props.game !== undefined || hasFailed) return
    const observer = new IntersectionObserver(
      entries => {
        if (entries.some(entry => entry.isIntersecting)) void load()
      },
      { rootMargin: AHEAD },
    )
    observer.observe(more.current)
    return () => observer.disconnect()
  }, [cursor, hasFailed])

  useEveryFewSeconds(REFRESH_MILLISECONDS, async turn => {
    const { streams, ended } = shown.current
    if (props.isTop) {
      const first = Math.min(MAX_PAGE, Math.max(PAGE, streams.length))
      const top = await api().helix.getStreams({ ...filter, first })
      const current = await keepShown(top.data)
      setList(before => refreshed(before, current, top.pagination.cursor === undefined))
    }
    if (turn % LOOK_UP_EVERY !== 0 && props.isTop) return
    const others = streams.slice(props.isTop ? MAX_PAGE : 0).filter(({ id }) => !ended.has(id))
    const user_id = others.slice(-MAX_PAGE).map(each => each.user_id)
    if (user_id.length === 0) return
    const { data } = await api().helix.getStreams({ user_id })
    setList(before => lookedUp(before, user_id, data))
  })

  const chosen = chosenFilter(props)
  const shownStreams = list.streams.filter(({ user_id }) => user_id !== props.featured)
  const card = (stream: ShownStream) => (
    <Slot
      key={stream.user_id}
      stream={stream}
      now={now}
      ended={list.ended.has(stream.id)}
      hasDrops={drops.has(stream)}
    />
  )
  return (
    <>
      <div class="directory">
        <h2>{props.heading}</h2>
        <p class="arrivals" role="status">
          {list.waiting > 0 && (
            <a class="chip" href={directoryLink(chosen)}>
              {list.waiting} new {list.waiting === 1 ? 'channel' : 'channels'}
            </a>
          )}
        </p>
        <Filters {...props} />
      </div>
      {shownStreams.length === 0 && props.featured !== undefined && (
        <p class="quiet alone">No other channel is live right now.</p>
      )}
      <ul class="grid">
        {shownStreams.slice(0, BEFORE_GAMES).map(card)}
        {props.games.length > 0 && (
          <li key="games" class="games">
            <div class="directory">
              <h2>{props.onlyDrops ? 'Games with drops' : 'Games'}</h2>
              <a href="/games">All games</a>
            </div>
            <GameCards games={props.games} onlyDrops={props.onlyDrops} />
          </li>
        )}
        {shownStreams.slice(BEFORE_GAMES).map(card)}
        {skeletons.map(key => (
          <CardSkeleton key={`skeleton-${key}`} />
        ))}
      </ul>
      {cursor !== undefined && (
        <p class="more">
          <a
            ref={more}
            class="button"
            rel="next"
            href={directoryLink({ ...chosen, after: cursor })}
            onClick={event => {
              if (hasFailed || event.ctrlKey || event.metaKey || event.shiftKey) return
              event.preventDefault()
              void load()
            }}
          >
            More channels
          </a>
        </p>
      )}
    </>
  )
})

/** A card that is rendered again only if something on it has changed. */
function Slot(card: Required<ComponentProps<typeof StreamCard>>) {
  return useMemo(() => <StreamCard {...card} />, Object.values(card))
}

const gridFilter = ({ game, language, drops, onlyDrops }: LiveGridProps) => ({
  ...(game ? { game_id: [game.id] } : onlyDrops && { game_id: drops.games }),
  ...(language && { language: [language.id] }),
})
