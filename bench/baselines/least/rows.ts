import { StreamKeys } from '../../../src/auth/stream-keys.ts'
import { imageUrl } from '../../../src/contract/image-urls.ts'
import {
  type EntitlementRow,
  preparedEntitlement,
  toEntitlement,
} from '../../../src/store/queries/entitlement-rows.ts'
import { type LeastOperation, type LeastServices, onlyValue } from './operation.ts'

export const getStreamKey: LeastOperation = ({ reader, ring }) => {
  const keys = new StreamKeys(ring)
  const currentOf = reader.get<{ slot: number; key_id: string; sealed: string }>(
    'select version as slot, key_id, sealed from stream_keys where user_id = ? order by version desc limit 1',
  )
  return (search, caller) => {
    const user_id = onlyValue(search)
    if (user_id !== caller?.user_id) throw new Error('not their own')
    const stored = currentOf(user_id)
    const key = stored === null ? undefined : keys.open(user_id, stored)
    if (key === undefined) throw new Error('no key')
    return `{"data":[{"stream_key":"${key}"}]}`
  }
}

/** By id, as an app asks. Rows become JSON as in Strand. */
export const getDropsEntitlements: LeastOperation = ({ reader }) => {
  const allBenefits = reader.all<{ number: number; id: string }>(
    'select number, benefit_id as id from entitlement_benefits',
  )
  const benefits = new Map(allBenefits().map(({ number, id }) => [number, id]))
  const find = reader.get<EntitlementRow>(
    `select organization, timestamp, id, last_updated, benefit, fulfilled, user_id, game_id
     from organization_entitlements where id = unhex(replace(?, '-', ''))
     and organization = (select number from entitlement_organizations where organization_id = ?)`,
  )
  return (search, caller) => {
    const row = find(onlyValue(search), caller?.organization_id ?? '')
    const json =
      row === null ? '' : preparedEntitlement(toEntitlement(row, benefits.get(row.benefit) ?? '')).json
    return `{"data":[${json}],"pagination":{}}`
  }
}

/** Rows by the ids of a query string, in that order, from one statement. */
function byIds(
  { reader }: LeastServices,
  statement: string,
  render: (row: Record<string, string>) => object,
) {
  const find = reader.all<Record<string, string>>(`${statement} in (select value from json_each(?))`)
  return (search: string) => {
    const ids = search.split('&').map(onlyValue)
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
