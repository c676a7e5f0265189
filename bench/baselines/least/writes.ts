/** Writes as durable as Strand's, on the same tables with the same indexes, without an audit log and events. */
import type { Database } from 'bun:sqlite'
import { randomUUID } from 'node:crypto'
import { markerPosition } from '../../../src/domain/timeline.ts'
import { isoSeconds } from '../../../src/kit/time/clock.ts'
import { uuidText } from '../../../src/kit/uuid.ts'
import { openSqlite } from '../../../src/store/sqlite/sqlite-connection.ts'
import type { LeastOperation } from './operation.ts'

/** As the writer of Strand has it. */
const WRITER_CACHE_KIBIBYTES = 32 * 1024
const IN_LIST = "in (select unhex(replace(value, '-', '')) from json_each(?))"

type Update = Readonly<{ entitlement_ids: string[]; fulfillment_status: string; organization_id: string }>
type Marker = Readonly<Record<'user_id' | 'description', string>>

/** What has arrived while a transaction was synced is the next transaction. */
function inGroups<Work>(storeFile: string, open: (connection: Database) => (work: Work) => object) {
  const connection = openSqlite(storeFile, 'write')
  connection.run(`pragma cache_size = -${WRITER_CACHE_KIBIBYTES}`)
  const [begin, commit] = [connection.prepare('begin immediate'), connection.prepare('commit')]
  const run = open(connection)
  let waiting: { work: Work; resolve(answer: string): void }[] = []
  const commitGroup = () => {
    const group = waiting
    waiting = []
    begin.run()
    const answers = group.map(({ work }) => JSON.stringify({ data: run(work) }))
    commit.run()
    for (const [n, { resolve }] of group.entries()) resolve(answers[n] ?? '')
  }
  return (work: Work): Promise<string> => {
    const { promise, resolve } = Promise.withResolvers<string>()
    if (waiting.length === 0) setImmediate(commitGroup)
    waiting.push({ work, resolve })
    return promise
  }
}

/** What it takes is nearly all SQLite's, in the pages of the indexes. */
export const updateDropsEntitlements: LeastOperation = ({ storeFile }) => {
  const write = inGroups<Update>(storeFile, connection => {
    const findOwners = connection.prepare<{ id: Uint8Array; organization_id: string }, string>(
      `select e.id, o.organization_id from organization_entitlements e
       join entitlement_organizations o on o.number = e.organization where e.id ${IN_LIST}`,
    )
    const setStatus = connection.prepare(
      `update organization_entitlements set fulfilled = ?, last_updated = max(?, last_updated + 1) where id ${IN_LIST}`,
    )
    return ({ entitlement_ids, fulfillment_status, organization_id }) => {
      const rows = findOwners.all(JSON.stringify(entitlement_ids))
      const owners = new Map(rows.map(row => [uuidText(row.id), row.organization_id]))
      const groups = Map.groupBy(entitlement_ids, id => {
        const owner = owners.get(id)
        if (owner === undefined) return 'NOT_FOUND'
        return owner === organization_id ? 'SUCCESS' : 'UNAUTHORIZED'
      })
      const own = JSON.stringify(groups.get('SUCCESS') ?? [])
      setStatus.run(Number(fulfillment_status === 'FULFILLED'), Date.now(), own)
      return [...groups].map(([status, ids]) => ({ status, ids }))
    }
  })
  return async (_, caller, request) =>
    write({ ...((await request.json()) as Update), organization_id: caller?.organization_id ?? '' })
}

export const createStreamMarker: LeastOperation = ({ storeFile }) => {
  const write = inGroups<Marker>(storeFile, connection => {
    const findLive = connection.prepare<
      Record<'video_id' | 'started_at', string> & { latest: number },
      string
    >(
      `select s.video_id, s.started_at,
         (select max(m.position_seconds) from video_markers m where m.video_id = s.video_id) as latest
       from streams s join channels c on c.user_id = s.user_id and c.vod_enabled = 1 where s.user_id = ?`,
    )
    const insert = connection.prepare(
      'insert into video_markers (id, video_id, position_seconds, description, created_at) values (?, ?, ?, ?, ?)',
    )
    return ({ user_id, description }) => {
      const { video_id = '', started_at = '', latest } = findLive.get(user_id) ?? {}
      const [id, now] = [randomUUID().replaceAll('-', ''), Date.now()]
      const position_seconds = markerPosition(started_at, now, latest ?? undefined)
      const created_at = isoSeconds(now)
      insert.run(id, video_id, position_seconds, description, created_at)
      return [{ id, created_at, description, position_seconds }]
    }
  })
  return async (_, caller, request) => {
    const marker = (await request.json()) as Marker
    if (marker.user_id !== caller?.user_id) throw new Error('not their own')
    return write(marker)
  }
}
