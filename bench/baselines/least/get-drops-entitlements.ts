import { isoMillis } from '../../../src/kit/clock.ts'
import { uuidText } from '../../../src/kit/uuid.ts'
import { type LeastCaller, type LeastOperation, paginationText, parameter } from './operation.ts'
import type { LeastReader } from './reader.ts'

const PAGE = 20

interface Stored {
  readonly id: Uint8Array
  readonly benefit: number
  readonly timestamp: number
  readonly user_id: string
  readonly game_id: string
  readonly fulfilled: number
  readonly last_updated: number
}

interface Row {
  readonly id: string
  readonly timestamp: string
}

const FIELDS = 'id, benefit, timestamp, user_id, game_id, fulfilled, last_updated'
const NEWEST_FIRST = `order by timestamp desc, id desc limit ${PAGE + 1}`
const OURS = 'organization = (select number from entitlement_organizations where organization_id = ?)'

/** By id, by user and game, or all of the organization's in pages, as an app asks. */
export const getDropsEntitlements: LeastOperation = ({ reader, cursors }) => {
  const named = namedBy(reader)
  const listed = listedBy(reader)
  return (search, caller) => {
    if (caller === undefined) throw new Error('a token is needed')
    const id = parameter(search, 'id')
    if (id !== undefined) return `{"data":${JSON.stringify(named(caller, id))},"pagination":{}}`
    const user_id = parameter(search, 'user_id')
    const game_id = parameter(search, 'game_id')
    const filters = { ...(game_id !== undefined && { game_id }), ...(user_id !== undefined && { user_id }) }
    const binding = () =>
      JSON.stringify(['GetDropsEntitlements', Object.entries(filters), `app ${caller.client_id}`])
    const after = parameter(search, 'after')
    const from = after === undefined ? undefined : cursors.open(binding(), after)?.last
    const rows = listed(caller, filters, from as [string, string] | undefined)
    const more = rows.length > PAGE
    if (more) rows.pop()
    const [top, bottom] = [rows[0], rows.at(-1)]
    const cursor =
      more && top !== undefined && bottom !== undefined
        ? cursors.seal(binding(), { first: keyOf(top), last: keyOf(bottom) })
        : undefined
    return `{"data":${JSON.stringify(rows)},${paginationText(cursor)}`
  }
}

const keyOf = ({ timestamp, id }: Row) => [timestamp, id]

/** In the order of the answer's fields, which are these and nothing else. */
function rowsOf(reader: LeastReader) {
  const find = reader.all<{ number: number; benefit_id: string }>(
    'select number, benefit_id from entitlement_benefits',
  )
  let benefits: Map<number, string> | undefined
  return (rows: readonly Stored[]): Row[] => {
    benefits ??= new Map(find().map(row => [row.number, row.benefit_id]))
    return rows.map(row => {
      const timestamp = isoMillis(row.timestamp)
      const last_updated = row.last_updated === row.timestamp ? timestamp : isoMillis(row.last_updated)
      return {
        id: uuidText(row.id),
        benefit_id: benefits?.get(row.benefit),
        timestamp,
        user_id: row.user_id,
        game_id: row.game_id,
        fulfillment_status: row.fulfilled === 1 ? 'FULFILLED' : 'CLAIMED',
        last_updated,
        updated_at: last_updated,
      }
    })
  }
}

function namedBy(reader: LeastReader) {
  const asRows = rowsOf(reader)
  const find = reader.all<Stored>(
    `select ${FIELDS} from organization_entitlements where id = unhex(replace(?, '-', '')) and (${OURS}) = 1`,
  )
  return ({ organization_id }: LeastCaller, id: string): Row[] => asRows(find(id, organization_id))
}

function listedBy(reader: LeastReader) {
  const asRows = rowsOf(reader)
  const gameOf = reader.get('select 1 from games where id = ? and organization_id = ?')
  const ofUserAndGame = reader.all<Stored>(
    `select ${FIELDS} from organization_entitlements where user_id = ? and game_id = ? and (${OURS}) = 1 ${NEWEST_FIRST}`,
  )
  const first = reader.all<Stored>(
    `select ${FIELDS} from organization_entitlements where ${OURS} ${NEWEST_FIRST}`,
  )
  const further = reader.all<Stored>(
    `select ${FIELDS} from organization_entitlements where ${OURS} and (timestamp, id) < (cast(? as integer), unhex(replace(?, '-', '')))
     ${NEWEST_FIRST}`,
  )
  return (
    { organization_id }: LeastCaller,
    { user_id, game_id }: { user_id?: string; game_id?: string },
    from: readonly [string, string] | undefined,
  ): Row[] => {
    if (user_id === undefined || game_id === undefined) {
      return asRows(
        from === undefined
          ? first(organization_id)
          : further(organization_id, String(Date.parse(from[0])), from[1]),
      )
    }
    if (gameOf(game_id, organization_id) === null) throw new Error('not their game')
    return asRows(ofUserAndGame(user_id, game_id, organization_id))
  }
}
