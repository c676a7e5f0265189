import { uuidText } from '../../../src/kit/uuid.ts'
import { openSqlite } from '../../../src/store/sqlite/sqlite-connection.ts'
import type { LeastOperation } from './operation.ts'

type Update = Readonly<{ entitlement_ids: string[]; fulfillment_status: string }>
type Waiting = Readonly<{ update: Update; organization_id: string; resolve(answer: string): void }>

/** As the writer of Strand has it. */
const WRITER_CACHE_KIBIBYTES = 32 * 1024
const IN_LIST = "in (select unhex(replace(value, '-', '')) from json_each(?))"

/**
 * Updates on the same table with the same indexes, as durable as Strand's: what has arrived while a transaction was synced is
 * the next transaction. Without an audit log and events. What it takes is nearly all SQLite's, in the pages of the indexes.
 */
export const updateDropsEntitlements: LeastOperation = ({ storeFile }) => {
  const connection = openSqlite(storeFile, 'write')
  connection.run(`pragma cache_size = -${WRITER_CACHE_KIBIBYTES}`)
  const [begin, commit] = [connection.prepare('begin immediate'), connection.prepare('commit')]
  const findOwners = connection.prepare(
    `select e.id, o.organization_id from organization_entitlements e
     join entitlement_organizations o on o.number = e.organization where e.id ${IN_LIST}`,
  )
  const setStatus = connection.prepare(
    `update organization_entitlements set fulfilled = ?, last_updated = max(?, last_updated + 1) where id ${IN_LIST}`,
  )
  const run = ({ update: { entitlement_ids, fulfillment_status }, organization_id }: Waiting) => {
    const rows = findOwners.all(JSON.stringify(entitlement_ids)) as {
      id: Uint8Array
      organization_id: string
    }[]
    const owners = new Map(rows.map(row => [uuidText(row.id), row.organization_id]))
    const groups = Map.groupBy(entitlement_ids, id => {
      const owner = owners.get(id)
      if (owner === undefined) return 'NOT_FOUND'
      return owner === organization_id ? 'SUCCESS' : 'UNAUTHORIZED'
    })
    const own = JSON.stringify(groups.get('SUCCESS') ?? [])
    setStatus.run(Number(fulfillment_status === 'FULFILLED'), Date.now(), own)
    return JSON.stringify({ data: [...groups].map(([status, ids]) => ({ status, ids })) })
  }
  let waiting: Waiting[] = []
  const commitGroup = () => {
    const group = waiting
    waiting = []
    begin.run()
    const answers = group.map(run)
    commit.run()
    for (const [n, { resolve }] of group.entries()) resolve(answers[n] ?? '')
  }
  return async (_, caller, request) => {
    const update = (await request.json()) as Update
    const { promise, resolve } = Promise.withResolvers<string>()
    if (waiting.length === 0) setImmediate(commitGroup)
    waiting.push({ update, organization_id: caller?.organization_id ?? '', resolve })
    return promise
  }
}
