import {
  type EntitlementRow,
  preparedEntitlement,
  readTime,
  readUuid,
  toEntitlement,
} from '../../../src/store/queries/entitlement-rows.ts'
import { cutPage, type LeastOperation, PAGE, paginationText, parameter } from './operation.ts'

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
    const cursor = cutPage(rows, keyOf, ends => cursors.seal(binding(), ends))
    return `{"data":[${jsonOf(rows)}],${paginationText(cursor)}`
  }
}

const keyOf = ({ timestamp, id }: EntitlementRow) => [readTime(timestamp), readUuid(id)]
