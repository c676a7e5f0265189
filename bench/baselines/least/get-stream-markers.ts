import { videoMoment } from '../../../src/domain/timeline.ts'
import { type LeastOperation, paginationText, parameter } from './operation.ts'

const PAGE = 20

interface Video {
  readonly id: string
  readonly user_id: string
  readonly login: string
  readonly display_name: string
}

interface Marker {
  readonly id: string
  readonly created_at: string
  readonly description: string
  readonly position_seconds: number
}

export const getStreamMarkers: LeastOperation = ({ reader, cursors, publicUrl }) => {
  const latestOf = reader.get<Video>(
    `select v.id, v.user_id, u.login, u.display_name from videos v join users u on u.id = v.user_id
     where v.id = coalesce(
       (select video_id from streams where user_id = ?1),
       (select id from videos where user_id = ?1 and ended_at is not null
        order by ended_at desc, length(id) desc, id desc limit 1))`,
  )
  const markersOf = reader.all<Marker>(
    `select id, created_at, description, position_seconds from video_markers where video_id = ?
     order by position_seconds, id limit ${PAGE + 1}`,
  )
  return (search, caller) => {
    const user_id = parameter(search, 'user_id')
    if (user_id === undefined || user_id !== caller?.user_id) throw new Error('not their own')
    const video = latestOf(user_id)
    if (video === null) throw new Error('no video')
    const markers = markersOf(video.id)
    const more = markers.length > PAGE
    if (more) markers.pop()
    const data = [
      {
        user_id: video.user_id,
        user_login: video.login,
        user_name: video.display_name,
        videos: [{ video_id: video.id, markers: markers.map(withUrl(`${publicUrl}/videos/${video.id}?t=`)) }],
      },
    ]
    const [top, bottom] = [markers[0], markers.at(-1)]
    const cursor =
      more && top !== undefined && bottom !== undefined
        ? cursors.seal(
            JSON.stringify([
              'GetStreamMarkers',
              [['user_id', user_id]],
              `user ${caller.client_id} ${user_id}`,
            ]),
            { first: keyOf(top), last: keyOf(bottom), memory: [video.id] },
          )
        : undefined
    return `{"data":${JSON.stringify(data)},${paginationText(cursor)}`
  }
}

const keyOf = ({ position_seconds, id }: Marker) => [position_seconds, id]

function withUrl(start: string) {
  return ({ id, created_at, description, position_seconds }: Marker) => {
    const url = start + videoMoment(position_seconds)
    return { id, created_at, description, position_seconds, url, URL: url }
  }
}
