import { StreamKeys } from '../../../src/auth/stream-keys.ts'
import { imageUrl } from '../../../src/contract/image-urls.ts'
import type { StreamMarker } from '../../../src/contract/resources/marker.ts'
import { videoMoment } from '../../../src/domain/timeline.ts'
import {
  type EntitlementRow,
  preparedEntitlement,
  readTime,
  readUuid,
  toEntitlement,
} from '../../../src/store/queries/entitlement-rows.ts'
import {
  cutPage,
  type LeastOperation,
  type LeastServices,
  PAGE,
  paginationText,
  parameter,
} from './operation.ts'

export const getStreamKey: LeastOperation = ({ reader, ring }) => {
  const keys = new StreamKeys(ring)
  const currentOf = reader.get<{ slot: number; key_id: string; sealed: string }>(
    'select version as slot, key_id, sealed from stream_keys where user_id = ? order by version desc limit 1',
  )
  return (search, caller) => {
    const user_id = parameter(search, 'broadcaster_id')
    if (user_id === undefined || user_id !== caller?.user_id) throw new Error('not their own')
    const stored = currentOf(user_id)
    const key = stored === null ? undefined : keys.open(user_id, stored)
    if (key === undefined) throw new Error('no key')
    return `{"data":[{"stream_key":"${key}"}]}`
  }
}

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
    const cursor = cutPage(markers, markerKey, ends =>
      cursors.seal(JSON.stringify(binding), { ...ends, cursorState: [video.id] }),
    )
    const { id, login, display_name } = video
    const listed = [{ video_id: id, markers: markers.map(withUrl(`${publicUrl}/videos/${id}?t=`)) }]
    const data = [{ user_id, user_login: login, user_name: display_name, videos: listed }]
    return `{"data":${JSON.stringify(data)},${paginationText(cursor)}`
  }
}

const markerKey = ({ position_seconds, id }: StreamMarker) => [position_seconds, id]

function withUrl(start: string) {
  return ({ id, created_at, description, position_seconds }: StreamMarker) => {
    const url = start + videoMoment(position_seconds)
    return { id, created_at, description, position_seconds, url, URL: url }
  }
}

const FIELDS = 'organization, timestamp, id, last_updated, benefit, fulfilled, user_id, game_id'
const NEWEST_FIRST = `order by timestamp desc, id desc limit ${PAGE + 1}`
const OURS = 'organization = (select number from entitlement_organizations where organization_id = ?)'
const OF_ID = "id = unhex(replace(?, '-', ''))"

/** By id, by user and game, or all of the organization's in pages, as an app asks. Rows become JSON as in Strand. */
export const getDropsEntitlements: LeastOperation = ({ reader, cursors }) => {
  const allBenefits = reader.all<{ number: number; id: string }>(
    'select number, benefit_id as id from entitlement_benefits',
  )
  const benefits = new Map(allBenefits().map(({ number, id }) => [number, id]))
  const select = (condition: string, order = NEWEST_FIRST) =>
    reader.all<EntitlementRow>(`select ${FIELDS} from organization_entitlements where ${condition} ${order}`)
  const named = select(`${OF_ID} and (${OURS}) = 1`, '')
  const ofUserAndGame = select(`user_id = ? and game_id = ? and (${OURS}) = 1`)
  const first = select(OURS)
  const further = select(`${OURS} and (timestamp, id) < (cast(? as integer), unhex(replace(?, '-', '')))`)
  const gameOf = reader.get('select 1 from games where id = ? and organization_id = ?')
  const jsonOf = (rows: readonly EntitlementRow[]) => {
    let text = ''
    for (const row of rows) {
      const { json } = preparedEntitlement(toEntitlement(row, benefits.get(row.benefit) ?? ''))
      text += text === '' ? json : `,${json}`
    }
    return text
  }
  return (search, caller) => {
    if (caller === undefined) throw new Error('a token is needed')
    const { client_id, organization_id } = caller
    const id = parameter(search, 'id')
    if (id !== undefined) return `{"data":[${jsonOf(named(id, organization_id))}],"pagination":{}}`
    const [user_id, game_id] = [parameter(search, 'user_id'), parameter(search, 'game_id')]
    const filters = { ...(game_id !== undefined && { game_id }), ...(user_id !== undefined && { user_id }) }
    const binding = () =>
      JSON.stringify(['GetDropsEntitlements', Object.entries(filters), `app ${client_id}`])
    const after = parameter(search, 'after')
    const from = after === undefined ? undefined : cursors.open(binding(), after)?.last
    let rows: EntitlementRow[]
    if (user_id !== undefined && game_id !== undefined) {
      if (gameOf(game_id, organization_id) === null) throw new Error('not their game')
      rows = ofUserAndGame(user_id, game_id, organization_id)
    } else if (from === undefined) rows = first(organization_id)
    else rows = further(organization_id, String(Date.parse(String(from[0]))), String(from[1]))
    const cursor = cutPage(rows, entitlementKey, ends => cursors.seal(binding(), ends))
    return `{"data":[${jsonOf(rows)}],${paginationText(cursor)}`
  }
}

const entitlementKey = ({ timestamp, id }: EntitlementRow) => [readTime(timestamp), readUuid(id)]

/** Rows by the ids of a query string, in that order, from one statement. */
function byIds(
  { reader }: LeastServices,
  statement: string,
  render: (row: Record<string, string>) => object,
) {
  const find = reader.all<Record<string, string>>(`${statement} in (select value from json_each(?))`)
  return (search: string) => {
    const ids = search.split('&').map(pair => pair.slice(pair.indexOf('=') + 1))
    const rows = new Map(find(JSON.stringify(ids)).map(row => [row.id, row]))
    const data = ids.flatMap(id => {
      const row = rows.get(id)
      return row === undefined ? [] : render(row)
    })
    return JSON.stringify({ data })
  }
}

export const getUsers: LeastOperation = services =>
  byIds(
    services,
    `select id, login, display_name, broadcaster_type, description, created_at from users
     where suspended_at is null and id`,
    ({ id = '', login, display_name, broadcaster_type, description, created_at }) => ({
      id,
      login,
      display_name,
      type: '',
      broadcaster_type,
      description,
      profile_image_url: imageUrl(services.publicUrl, 'users', id),
      offline_image_url: '',
      view_count: 0,
      created_at: `${created_at?.slice(0, 19)}Z`,
    }),
  )

export const getChannelInformation: LeastOperation = services =>
  byIds(
    services,
    `select u.id, u.login, u.display_name, c.language, g.id as game_id, g.name as game_name, c.title, c.tags,
       c.content_labels, c.is_branded_content
     from channels c join users u on u.id = c.user_id and u.suspended_at is null join games g on g.id = c.game_id
     where u.id`,
    row => ({
      broadcaster_id: row.id,
      broadcaster_login: row.login,
      broadcaster_name: row.display_name,
      broadcaster_language: row.language,
      game_id: row.game_id,
      game_name: row.game_name,
      title: row.title,
      delay: 0,
      tags: JSON.parse(row.tags ?? ''),
      content_classification_labels: JSON.parse(row.content_labels ?? ''),
      is_branded_content: Number(row.is_branded_content) === 1,
    }),
  )
