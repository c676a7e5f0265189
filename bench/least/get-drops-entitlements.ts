import { type LeastCaller, type LeastOperation, paginationText, parameter } from './operation.ts'
import type { LeastReader } from './reader.ts'

const PAGE = 20

interface Row {
  readonly id: string
  readonly timestamp: string
}

/** In the order of the answer's fields, which are these and nothing else. */
const FIELDS = `id, benefit_id, timestamp, user_id, game_id, fulfillment_status, last_updated,
  last_updated as updated_at`
const NEWEST_FIRST = `order by timestamp desc, id desc limit ${PAGE + 1}`

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

function namedBy(reader: LeastReader) {
  const find = reader.all<Row>(`select ${FIELDS} from entitlements where id = ? and organization_id = ?`)
  return ({ organization_id }: LeastCaller, id: string): Row[] => find(id, organization_id)
}

function listedBy(reader: LeastReader) {
  const gameOf = reader.get('select 1 from games where id = ? and organization_id = ?')
  const ofUserAndGame = reader.all<Row>(
    `select ${FIELDS} from entitlements where organization_id = ? and user_id = ? and (game_id || '') = ?
     ${NEWEST_FIRST}`,
  )
  const first = reader.all<Row>(
    `select ${FIELDS} from entitlements where organization_id = ? ${NEWEST_FIRST}`,
  )
  const further = reader.all<Row>(
    `select ${FIELDS} from entitlements where organization_id = ? and (timestamp, id) < (?, ?) ${NEWEST_FIRST}`,
  )
  return (
    { organization_id }: LeastCaller,
    { user_id, game_id }: { user_id?: string; game_id?: string },
    from: readonly [string, string] | undefined,
  ): Row[] => {
    if (user_id === undefined || game_id === undefined) {
      return from === undefined ? first(organization_id) : further(organization_id, ...from)
    }
    if (gameOf(game_id, organization_id) === null) throw new Error('not their game')
    return ofUserAndGame(organization_id, user_id, game_id)
  }
}
