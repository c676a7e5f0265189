import { deleteVideo, getVideo, listVideos, patchVideo } from '../../contract/control/videos.ts'
import { isRefusal, refuse } from '../../contract/problem.ts'
import { videoSeconds } from '../../domain/timeline.ts'
import { type VideoRow, videoSortKey } from '../../store/queries/videos.ts'
import { implement, type Services } from '../implement.ts'

export const handleListVideos = implement(
  listVideos,
  async ({ query, window, paginate }, { store, clock }) => {
    const page = await store.videos.page(query, window)
    const now = clock.now()
    const data = page.rows.map(row => withDuration(row, now))
    return { data, pagination: paginate(page, videoSortKey) }
  },
)

export const handleGetVideo = implement(getVideo, ({ params }, services) =>
  showVideo(params.video_id, services),
)

export const handlePatchVideo = implement(patchVideo, async ({ params, body }, services) => {
  const refused = await services.store.commands.changeVideo({ id: params.video_id, ...body })
  return isRefusal(refused) ? refused : showVideo(params.video_id, services)
})

async function showVideo(id: string, { store, clock }: Pick<Services, 'store' | 'clock'>) {
  const row = await store.videos.inFull(id)
  return row ? { data: [withDuration(row, clock.now())] } : refuse('not_found', 'video', id)
}

function withDuration(row: VideoRow, now: number) {
  return { ...row, duration_seconds: videoSeconds(row, now) }
}

export const handleDeleteVideo = implement(deleteVideo, ({ params }, { store }) =>
  store.commands.deleteVideo({ id: params.video_id }),
)
