import { deleteVideo, getVideo, listVideos } from '../../contract/control/videos.ts'
import { refuse } from '../../contract/problem.ts'
import { secondsBetween } from '../../domain/timeline.ts'
import { type VideoRow, videoSortKey } from '../../store/queries/videos.ts'
import { implement } from '../implement.ts'

export const handleListVideos = implement(
  listVideos,
  async ({ query, window, paginate }, { store, clock }) => {
    const page = await store.videos.page(query, window)
    const now = clock.now()
    const data = page.rows.map(row => withDuration(row, now))
    return { data, pagination: paginate(page, videoSortKey) }
  },
)

export const handleGetVideo = implement(getVideo, async ({ params }, { store, clock }) => {
  const row = await store.videos.inFull(params.video_id)
  return row ? { data: [withDuration(row, clock.now())] } : refuse('not_found', 'video', params.video_id)
})

/** The duration grows while the stream is live. */
function withDuration(row: VideoRow, now: number) {
  const end = row.ended_at === null ? now : Date.parse(row.ended_at)
  return { ...row, duration_seconds: secondsBetween(row.created_at, end) }
}

export const handleDeleteVideo = implement(deleteVideo, ({ params }, { store }) =>
  store.commands.deleteVideo({ id: params.video_id }),
)
