/** Live channels as the home page and the pages of games list them, with their filters. */
import type { Client } from '../../client/index.ts'
import type { Filtering, Named } from '../components/filters.tsx'
import { type ShownStream, toShownStream } from '../components/stream-card.tsx'
import { languageName } from '../format/languages.ts'
import type { Browser } from '../request/browser.ts'
import { listDropsChannels } from '../request/drops-channels.ts'
import type { PageServices } from '../request/session.ts'

/** They fill rows of two, three, four and six. */
const FIRST = 24
/** The languages offered are those of so many streams. */
const SAMPLE = 100
/** Games of campaigns that the list can be limited to: GetStreams takes as many. */
const MAX_DROPS_GAMES = 100
/** Pages of channels that count for no campaign are skipped, so many at most. */
const MAX_SKIPPED = 4

type ListServices = Pick<PageServices, 'campaigns' | 'clock'>

export interface LiveChannels extends Filtering {
  readonly streams: readonly ShownStream[]
  readonly cursor: string | undefined
  /** Whether this is the first page of the list. */
  readonly isTop: boolean
  /** Whether this is the first page of all live channels. */
  readonly isWhole: boolean
  /** Whether any channel is live that the filters leave out. */
  readonly hasOthers: boolean
}

/** A page of live channels, most viewers first, with the filters that the request names; of a game, or of all. */
export async function listLiveChannels(
  browser: Browser,
  services: ListServices,
  helix: Client['helix'],
  game?: Named,
): Promise<LiveChannels> {
  const language = browser.parameter('language')
  const after = browser.parameter('after')
  const onlyDrops = browser.parameter('drops') === '1'
  const active = services.campaigns.activeGames(services.clock.now())
  const games = active.filter(id => game === undefined || id === game.id).slice(0, MAX_DROPS_GAMES)
  const ofGame = game && { game_id: [game.id] }
  const filter = {
    ...(ofGame ?? (onlyDrops && { game_id: games })),
    ...(language && { language: [language] }),
  }
  // Of the whole list, one more is shown large.
  const isWhole = !game && !language && !onlyDrops && !after
  const first = isWhole ? FIRST + 1 : FIRST
  const list = (from = after) => helix.getStreams({ ...filter, first, ...(from && { after: from }) })
  const [page, sample] = await Promise.all([
    onlyDrops ? listWithDrops(list, games, services) : list(),
    helix.getStreams({ ...ofGame, first: SAMPLE }),
  ])
  return {
    streams: page.data.map(toShownStream),
    cursor: page.pagination.cursor,
    isTop: after === undefined,
    isWhole,
    hasOthers: sample.data.length > 0,
    languages: listLanguages(sample.data),
    ...(game && { game }),
    ...(language && { language: { id: language, name: languageName(language) } }),
    drops: { games, channels: listDropsChannels(page.data, services) },
    onlyDrops,
  }
}

type StreamList = Pick<Awaited<ReturnType<Client['helix']['getStreams']>>, 'data' | 'pagination'>

/** The channels of a page that count for a campaign, or of the first page that has any. */
async function listWithDrops(
  list: (after?: string) => Promise<StreamList>,
  games: readonly string[],
  services: ListServices,
): Promise<StreamList> {
  if (games.length === 0) return { data: [], pagination: {} }
  let page = await list()
  for (let skipped = 0; ; skipped++) {
    const counting = listDropsChannels(page.data, services)
    const data = page.data.filter(({ user_id }) => counting.includes(user_id))
    const { cursor } = page.pagination
    if (data.length > 0 || cursor === undefined || skipped === MAX_SKIPPED) return { ...page, data }
    page = await list(cursor)
  }
}

/** The languages of these streams, those of most of them first. */
function listLanguages(streams: readonly { readonly language: string }[]): Named[] {
  return [...Map.groupBy(streams, ({ language }) => language)]
    .sort(([, one], [, other]) => other.length - one.length)
    .map(([id]) => ({ id, name: languageName(id) }))
}
