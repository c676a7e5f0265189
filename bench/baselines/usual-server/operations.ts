import { createDecipheriv, hkdfSync, randomUUID } from 'node:crypto'
import type { DatabaseSync, StatementSync } from 'node:sqlite'

/** Master keys are in the form of STRAND_MASTER_KEYS; the URL is that of Strand, for the links in answers. */
export type UsualPlan = Readonly<Record<'storeFile' | 'masterKeys' | 'publicUrl' | 'modules', string>>

export interface UsualRequest {
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly query: unknown
  readonly body: unknown
  /** With the number of the organization, as entitlements have it. */
  caller: Readonly<{ user_id: string | null; organization: number }> | null
}
type Operation = (request: UsualRequest) => object

type Dictionary<Names extends string, Value> = Readonly<Partial<Record<Names, Value>>>
/** What schemas have checked. */
type Filters = Dictionary<'user_id' | 'broadcaster_id' | 'game_id' | 'language', string>
type One = Filters & { after?: string; first?: number }
type Many = Dictionary<'id' | 'user_id' | 'broadcaster_id', string[]>
type Body = Record<'user_id' | 'description' | 'fulfillment_status', string> & { entitlement_ids: string[] }
/** The columns that code looks at. */
type Names = Record<'id' | 'user_id' | 'login' | 'display_name' | 'started_at', string>
type Texts = Record<'tags' | 'labels' | 'sealed', string>
type Counts = Record<'viewer_count' | 'number' | 'version' | 'fulfilled' | 'organization', number>
type Times = Record<'position_seconds' | 'latest' | 'timestamp' | 'last_updated', number>
type Row = Readonly<Names & Texts & Counts & Times>

export const failure = (statusCode: number) => Object.assign(new Error('refused'), { statusCode })

/** What is live in one table with an index for each filter, as a team would keep it beside its users and channels. */
const LIVE_STREAMS = `create table live_streams as
    select cast(s.id as integer) as number, s.id, s.user_id, u.login as user_login, u.display_name as user_name,
      c.game_id, g.name as game_name, c.title, s.viewer_count, s.started_at, c.language, c.tags, c.is_mature
    from streams s join users u on u.id = s.user_id join channels c on c.user_id = u.id join games g on g.id = c.game_id;
  create unique index live_of_user on live_streams (user_id);
  create index live on live_streams (viewer_count, number);
  create index live_of_game on live_streams (game_id, language, viewer_count, number);
  pragma analysis_limit = 1000;
  analyze`
const IN_LIST = 'in (select value from json_each(?))'
const UUID_IN_LIST = "in (select unhex(replace(value, '-', '')) from json_each(?))"

const readCursor = (cursor: string): string[] => JSON.parse(Buffer.from(cursor, 'base64url').toString())
const uuidText = (hex: string) => hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')

/** A page, cut from rows with one more if there is another page; the cursor has these columns of the last row. */
function toPage(rows: Row[], first: number, columns: readonly (keyof Row)[], render: (row: Row) => object) {
  if (rows.length <= first) return { data: rows.map(render), pagination: {} }
  rows.length = first
  const key = columns.map(column => rows.at(-1)?.[column])
  const cursor = Buffer.from(JSON.stringify(key)).toString('base64url')
  return { data: rows.map(render), pagination: { cursor } }
}

/** In the order that was asked for. */
function inOrder(ids: readonly string[], rows: Row[], render: (row: Row) => object) {
  const byId = new Map(rows.map(row => [row.id, row]))
  return { data: [...new Set(ids)].flatMap(id => byId.get(id) ?? []).map(render) }
}

export function createOperations(db: DatabaseSync, { masterKeys, publicUrl }: UsualPlan) {
  const all = (statement: StatementSync, ...values: (string | number)[]) =>
    statement.all(...values) as unknown as Row[]
  const one = (statement: StatementSync, value: string) => {
    const row = statement.get(value) as Row | undefined
    if (row === undefined) throw failure(404)
    return row
  }
  /** Commits in any case: what is refused has written nothing. */
  const inTransaction = (work: () => object): object => {
    db.exec('begin immediate')
    try {
      return work()
    } finally {
      db.exec('commit')
    }
  }
  const requireOwn = (id = '', { caller }: UsualRequest) => {
    if (id !== caller?.user_id) throw failure(403)
    return id
  }

  db.exec(LIVE_STREAMS)
  const live = (condition: string, from = 'live_streams') =>
    db.prepare(
      `select live_streams.* from ${from} where ${condition} order by viewer_count desc, number desc limit ?`,
    )
  const [everyone, ofUsers] = [live('true'), live(`user_id ${IN_LIST}`)]
  const ofGame = live('game_id = ? and language = ?')
  const ofFollowed = 'follows f cross join live_streams on live_streams.user_id = broadcaster_id'
  const followed = live('f.user_id = ?', ofFollowed)
  const answerStreams = (rows: Row[], first: number) =>
    toPage(rows, first, ['viewer_count', 'number'], row => {
      const thumbnail_url = `${publicUrl}/images/channels/${row.user_id}-{width}x{height}.png`
      return Object.assign(row, { type: 'live', thumbnail_url, tag_ids: [], tags: JSON.parse(row.tags) })
    })
  const getStreams: Operation = ({ query }) => {
    const { user_id } = query as Many
    const { game_id, language, first = user_id ? 100 : 20 } = query as One
    if (user_id) return answerStreams(all(ofUsers, JSON.stringify(user_id), first + 1), first)
    if (game_id && language) return answerStreams(all(ofGame, game_id, language, first + 1), first)
    return answerStreams(all(everyone, first + 1), first)
  }
  const getFollowedStreams: Operation = request => {
    const { user_id, first = 100 } = request.query as One
    return answerStreams(all(followed, requireOwn(user_id, request), first + 1), first)
  }

  const currentKey = db.prepare(
    'select version, sealed from stream_keys where user_id = ? order by version desc limit 1',
  )
  const master = Buffer.from(masterKeys.replace(/.*:/, ''), 'base64')
  const boxKey = Buffer.from(hkdfSync('sha256', master, Buffer.alloc(0), 'strand/stream-key', 32))
  const getStreamKey: Operation = request => {
    const id = requireOwn((request.query as One).broadcaster_id, request)
    const { version, sealed } = one(currentKey, id)
    const bytes = Buffer.from(sealed, 'base64url')
    const decipher = createDecipheriv('aes-256-gcm', boxKey, bytes.subarray(0, 12))
    decipher.setAAD(Buffer.from(`${id}/${version}`)).setAuthTag(bytes.subarray(-16))
    const stream_key = decipher.update(bytes.subarray(12, -16), undefined, 'utf8') + decipher.final('utf8')
    return { data: [{ stream_key }] }
  }

  const latestVideo = db.prepare(
    `select v.id, u.login, u.display_name from videos v join users u on u.id = v.user_id
     where v.id = coalesce((select video_id from streams where user_id = ?1),
       (select id from videos where user_id = ?1 and ended_at is not null order by ended_at desc, id desc limit 1))`,
  )
  const findMarkers = db.prepare(
    `select id, created_at, description, position_seconds from video_markers
     where video_id = ? order by position_seconds, id limit ?`,
  )
  const getStreamMarkers: Operation = request => {
    const { user_id, first = 20 } = request.query as One
    const video = one(latestVideo, requireOwn(user_id, request))
    const rows = all(findMarkers, video.id, first + 1)
    const { data: markers, pagination } = toPage(rows, first, ['position_seconds', 'id'], row => {
      const [minutes, seconds] = [Math.floor(row.position_seconds / 60), row.position_seconds % 60]
      const url = `${publicUrl}/videos/${video.id}?t=${Math.floor(minutes / 60)}h${minutes % 60}m${seconds}s`
      return Object.assign(row, { url, URL: url })
    })
    const names = { user_id, user_login: video.login, user_name: video.display_name }
    return { data: [{ ...names, videos: [{ video_id: video.id, markers }] }], pagination }
  }

  const findStream = db.prepare(
    `select s.video_id as id, s.started_at,
       coalesce((select max(position_seconds) from video_markers m where m.video_id = s.video_id), 0) as latest
     from streams s join channels c on c.user_id = s.user_id and c.vod_enabled = 1 where s.user_id = ?`,
  )
  const insertMarker = db.prepare(
    'insert into video_markers (id, video_id, position_seconds, description, created_at) values (?, ?, ?, ?, ?)',
  )
  const createStreamMarker: Operation = request => {
    const { user_id, description = '' } = request.body as Body
    requireOwn(user_id, request)
    const [id, created_at] = [randomUUID().replaceAll('-', ''), `${new Date().toISOString().slice(0, 19)}Z`]
    return inTransaction(() => {
      const stream = one(findStream, user_id)
      const elapsed = (Date.parse(created_at) - Date.parse(stream.started_at)) / 1000
      const position_seconds = Math.max(elapsed, stream.latest)
      insertMarker.run(id, stream.id, position_seconds, description, created_at)
      return { data: [{ id, created_at, description, position_seconds }] }
    })
  }

  const drops = (conditions: string, order = 'order by e.timestamp desc, e.id desc limit ?') =>
    db.prepare(
      `select lower(hex(e.id)) as id, b.benefit_id, e.timestamp, e.last_updated, e.fulfilled, e.user_id, e.game_id
       from organization_entitlements e join entitlement_benefits b on b.number = e.benefit
       where e.organization = ? ${conditions} ${order}`,
    )
  const dropsWithIds = drops(`and e.id ${UUID_IN_LIST}`, '')
  const [everyDrop, ofUserAndGame] = [drops(''), drops('and e.user_id = ? and e.game_id = ?')]
  const afterDrop = drops('and (e.timestamp, e.id) < (?, unhex(?))')
  const getDropsEntitlements: Operation = ({ query, caller }) => {
    const { id } = query as Many
    const { user_id, game_id, first = 20, after } = query as One
    const organization = caller?.organization ?? -1
    const select = () => {
      if (id) return all(dropsWithIds, organization, JSON.stringify(id))
      if (user_id && game_id) return all(ofUserAndGame, organization, user_id, game_id, first + 1)
      if (after) return all(afterDrop, organization, ...readCursor(after), first + 1)
      return all(everyDrop, organization, first + 1)
    }
    const rows = select()
    return toPage(rows, id ? rows.length : first, ['timestamp', 'id'], row => {
      const fulfillment_status = row.fulfilled === 1 ? 'FULFILLED' : 'CLAIMED'
      const timestamp = new Date(row.timestamp).toISOString()
      const updated_at = new Date(row.last_updated).toISOString()
      const times = { timestamp, last_updated: updated_at, updated_at }
      return Object.assign(row, { id: uuidText(row.id), fulfillment_status }, times)
    })
  }

  const findOwners = db.prepare(
    `select lower(hex(id)) as id, organization from organization_entitlements where id ${UUID_IN_LIST}`,
  )
  const updateDrops = db.prepare(
    `update organization_entitlements set fulfilled = ?, last_updated = max(?, last_updated + 1)
     where id ${UUID_IN_LIST}`,
  )
  const updateDropsEntitlements: Operation = ({ body, caller }) => {
    const { entitlement_ids, fulfillment_status } = body as Body
    const organization = caller?.organization ?? -1
    return inTransaction(() => {
      const rows = all(findOwners, JSON.stringify(entitlement_ids))
      const owners = new Map(rows.map(row => [uuidText(row.id), row.organization]))
      const own = entitlement_ids.filter(id => owners.get(id.toLowerCase()) === organization)
      updateDrops.run(Number(fulfillment_status === 'FULFILLED'), Date.now(), JSON.stringify(own))
      const groups = Map.groupBy(entitlement_ids, id => {
        const owner = owners.get(id.toLowerCase()) ?? 'NOT_FOUND'
        return owner === organization ? 'SUCCESS' : typeof owner === 'string' ? owner : 'UNAUTHORIZED'
      })
      return { data: [...groups].map(([status, ids]) => ({ status, ids })) }
    })
  }

  const findUsers = db.prepare(
    `select id, login, display_name, '' as type, broadcaster_type, description, '' as offline_image_url,
       '${publicUrl}/images/users/' || id || '-300x300.png' as profile_image_url, 0 as view_count,
       substr(created_at, 1, 19) || 'Z' as created_at
     from users where id ${IN_LIST} and suspended_at is null`,
  )
  const getUsers: Operation = ({ query }) => {
    const { id = [] } = query as Many
    return inOrder(id, all(findUsers, JSON.stringify(id)), user => user)
  }
  const findChannels = db.prepare(
    `select u.id, u.id as broadcaster_id, u.login as broadcaster_login, u.display_name as broadcaster_name,
       c.language as broadcaster_language, coalesce(g.id, '') as game_id, coalesce(g.name, '') as game_name,
       c.title, iif(u.id = ?, c.delay, 0) as delay, c.tags, c.is_branded_content,
       iif(c.is_mature, json_insert(c.content_labels, '$[#]', 'MatureGame'), c.content_labels) as labels
     from channels c join users u on u.id = c.user_id and u.suspended_at is null left join games g on g.id = c.game_id
     where c.user_id ${IN_LIST}`,
  )
  const getChannelInformation: Operation = ({ query, caller }) => {
    const { broadcaster_id: ids = [] } = query as Many
    return inOrder(ids, all(findChannels, caller?.user_id ?? '', JSON.stringify(ids)), channel => {
      const content_classification_labels = JSON.parse(channel.labels)
      return Object.assign(channel, { tags: JSON.parse(channel.tags), content_classification_labels })
    })
  }
  const ofStreams = { getStreams, getFollowedStreams, getStreamKey, getStreamMarkers }
  const ofOthers = { createStreamMarker, getDropsEntitlements, updateDropsEntitlements, getUsers }
  return { ...ofStreams, ...ofOthers, getChannelInformation }
}
