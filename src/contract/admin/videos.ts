import { exportVideoMarkers } from '../control/markers.ts'
import { deleteVideo, getVideo, listVideos, patchVideo } from '../control/videos.ts'
import { VIDEO } from './examples.ts'
import { action, editForm, type Resource, removeForm } from './resource.ts'

const list = action('list', listVideos, ['--user lunar_otter'], {
  columns: ['id', 'user_login', 'created_at', 'duration_seconds', 'is_live', 'view_count', 'title'],
})
const show = action('show', getVideo, [VIDEO])
const edit = action('edit', patchVideo, [`${VIDEO} --description "Night dive, part two" --view-count 1200`], {
  form: editForm(getVideo, 'The video was changed.'),
})
const remove = action('delete', deleteVideo, [`${VIDEO} --yes`], {
  confirm: 'final',
  form: removeForm('The video was deleted.'),
})

const exportMarkers = action('export', exportVideoMarkers, [
  `${VIDEO} --format csv`,
  `${VIDEO} --format edl --fps 59.94 --output markers.edl`,
  `${VIDEO} --format youtube`,
])

/** Videos and their markers. */
export const videos: Resource = {
  nouns: [
    { words: 'video', meaning: 'videos of past streams', actions: [list, show, edit, remove] },
    { words: 'marker', meaning: 'markers of a video', actions: [exportMarkers] },
  ],
  tables: [
    {
      path: 'videos',
      title: 'Videos',
      one: 'video',
      group: 'Live',
      list: listVideos,
      get: getVideo,
      key: 'id',
      name: 'title',
      columns: [
        'title',
        'user_id',
        'is_live',
        'duration_seconds',
        'view_count',
        'marker_count',
        'created_at',
      ],
      empty: 'There are no videos. Streams create them.',
      actions: [edit, remove],
    },
  ],
}
