import type { StreamMarker } from '../../../src/contract/resources/marker.ts'
import { videoMoment } from '../../../src/domain/timeline.ts'
import { cutPage, type LeastOperation, PAGE, paginationText, parameter } from './operation.ts'

export const getStreamMarkers: LeastOperation = ({ reader, cursors, publicUrl }) => {
  const latestOf = reader.get<{ id: string; login: string; display_name: string }>(
    `select v.id, u.login, u.display_name from videos v join users u on u.id = v.user_id
     where v.id = coalesce(
       (select video_id from streams where user_id = ?1),
       (select id from videos where user_id = ?1 and ended_at is not null
        order by ended_at desc, length(id) desc, id desc limit 1))`,
  )
  const markersOf = reader.all<StreamMarker>(
    `select id, created_at, description, position_seconds from video_markers where video_id = ?
     order by position_seconds, id limit ${PAGE + 1}`,
  )
  return (search, caller) => {
    const user_id = parameter(search, 'user_id')
    if (user_id === undefined || user_id !== caller?.user_id) throw new Error('not their own')
    const video = latestOf(user_id)
    if (video === null) throw new Error('no video')
    const markers = markersOf(video.id)
    const binding = ['GetStreamMarkers', [['user_id', user_id]], `user ${caller.client_id} ${user_id}`]
    const cursor = cutPage(markers, keyOf, ends =>
      cursors.seal(JSON.stringify(binding), { ...ends, cursorState: [video.id] }),
    )
    const { id, login, display_name } = video
    const listed = [{ video_id: id, markers: markers.map(withUrl(`${publicUrl}/videos/${id}?t=`)) }]
    const data = [{ user_id, user_login: login, user_name: display_name, videos: listed }]
    return `{"data":${JSON.stringify(data)},${paginationText(cursor)}`
  }
}

const keyOf = ({ position_seconds, id }: StreamMarker) => [position_seconds, id]

function withUrl(start: string) {
  return ({ id, created_at, description, position_seconds }: StreamMarker) => {
    const url = start + videoMoment(position_seconds)
    return { id, created_at, description, position_seconds, url, URL: url }
  }
}
