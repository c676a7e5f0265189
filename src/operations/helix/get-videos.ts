import { getVideos } from '../../contract/helix/get-videos.ts'
import type { QueryOf } from '../../contract/operation.ts'
import { refuse } from '../../contract/problem.ts'
import { assertDefined } from '../../kit/assert-defined.ts'
import { isoSeconds } from '../../kit/time/clock.ts'
import { sortKeyFor, type Video } from '../../store/queries/videos.ts'
import { implement } from '../implement.ts'
import { lookUp } from '../look-up.ts'
import { renderVideo } from '../render-video.ts'

export const handleGetVideos = implement(
  getVideos,
  async ({ query, window, paginate }, { store, clock, publicUrl }) => {
    const now = clock.now()
    const rendered = (video: Video) => renderVideo(video, publicUrl, now)
    if (query.id !== undefined) {
      const videos = await lookUp({ values: query.id, find: store.videos.named, valueIn: ({ id }) => id })
      if (videos.length === 0) return refuse('video_not_found', assertDefined(query.id[0], 'an id'))
      return { data: videos.map(rendered), pagination: {} }
    }
    if (query.game_id !== undefined && (await store.games.find(query.game_id)) === undefined)
      return refuse('not_found', 'game', query.game_id)
    if (query.type === 'highlight' || query.type === 'upload') return { data: [], pagination: {} }

    // All pages of a walk are of the same period, which began that long before the first page.
    const startedOn = window.cursorState?.[0]
    const since = startedOn === undefined ? periodStart(query.period, now) : String(startedOn)
    const sort = query.sort === undefined || query.sort === 'time' ? 'time' : 'views'
    const { user_id, game_id } = query
    const filter = { user_id, game_id, language: query.language?.toLowerCase(), since, sort } as const
    const page = await store.videos.listed(filter, window)
    return {
      data: page.rows.map(rendered),
      pagination: paginate(page, sortKeyFor(sort), since === undefined ? undefined : [since]),
    }
  },
)

const DAYS = { day: 1, week: 7, month: 30 } as const

/** When the period began; undefined if it has no beginning. */
function periodStart(period: QueryOf<typeof getVideos>['period'], now: number): string | undefined {
  if (period === undefined || period === 'all') return undefined
  return isoSeconds(now - DAYS[period] * 24 * 3600 * 1000)
}
