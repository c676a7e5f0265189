import type { Page, Window } from '../../contract/page.ts'
import type { ChannelEditor } from '../../contract/resources/channel.ts'
import {
  type Benefit,
  type Channel,
  type Client,
  type Game,
  MAX_EDITORS,
  type Organization,
  type User,
} from '../../contract/resources/world.ts'
import type { GameSearch } from '../../domain/game-search.ts'
import { chain, type MaybePromise } from '../../kit/maybe-promise.ts'
import type { Database } from '../database.ts'
import { keysetPage } from '../keyset.ts'
import { BY_NUMBER, inOrderOf } from '../keyset-order.ts'
import { isOneOf, limitedTo, type Sql, sql, statement, verbatim } from '../sql/tag.ts'
import { searchGames } from './game-search.ts'

const BY_ID = inOrderOf('id')

export const decimalSortKey = BY_NUMBER.keyOf
export const idSortKey = BY_ID.keyOf

/** The columns of a `User`. */
const USER_COLUMNS = ['id', 'login', 'display_name', 'description', 'broadcaster_type', 'email', 'created_at']
const userColumns = verbatim(`select ${USER_COLUMNS.join(', ')} from users`)

export const userQueries = (db: Database) => ({
  find: (id: string) => db.get<User>(sql`${userColumns} where id = ${id}`),
  withLogin: (login: string) => db.get<User>(sql`${userColumns} where login = ${login.toLowerCase()}`),
  withIds: (ids: readonly string[]) => db.all<User>(sql`${userColumns} where ${isOneOf(sql`id`, ids)}`),
  withLogins: (logins: readonly string[]) =>
    db.all<User>(sql`${userColumns} where ${isOneOf(sql`login`, logins)}`),
  page: (window: Window): MaybePromise<Page<User>> =>
    keysetPage<User>(db, {
      select: userColumns,
      order: BY_NUMBER,
      window,
    }),
})

const namedColumns = verbatim(USER_COLUMNS.map(name => `u.${name}`).join(', '))

/** The users on one side of a relation, in the text order of their ids, which is the order of its index. */
const peopleIn = (db: Database, table: string, column: string, where: Sql, window: Window) =>
  keysetPage<User>(db, {
    select: verbatim(`select ${column} as id from ${table}`),
    around: page => sql`select ${namedColumns} from (${page}) r join users u on u.id = r.id order by r.id`,
    where: [where],
    order: inOrderOf(column),
    window,
    keyOf: idSortKey,
  })

const organizationColumns = sql`select id, name from organizations`

export const organizationQueries = (db: Database) => ({
  find: (id: string) => db.get<Organization>(sql`${organizationColumns} where id = ${id.toLowerCase()}`),
  page: (filter: { readonly name?: string | undefined }, window: Window): MaybePromise<Page<Organization>> =>
    keysetPage<Organization>(db, {
      select: organizationColumns,
      where: called(filter),
      order: BY_ID,
      window,
    }),
  members: (organization_id: string, window: Window) =>
    peopleIn(db, 'members', 'user_id', sql`organization_id = ${organization_id.toLowerCase()}`, window),
})

interface Owners {
  readonly organization_id?: string | undefined
  readonly game_id?: string | undefined
  readonly owner_user_id?: string | undefined
}

const ofOrganization = ({ organization_id }: Owners): Sql[] =>
  organization_id === undefined ? [] : [sql`organization_id = ${organization_id.toLowerCase()}`]

const called = ({ name }: { readonly name?: string | undefined }): Sql[] =>
  name === undefined ? [] : [sql`name = ${name}`]

const gameColumns = sql`select id, name, organization_id, igdb_id from games`

const gameWithId = statement(['id'], ({ id }) => sql`${gameColumns} where id = ${id}`)

export const gameQueries = (db: Database) => ({
  find: (id: string) => db.get<Game>(gameWithId({ id })),
  withIds: (ids: readonly string[]) => db.all<Game>(sql`${gameColumns} where ${isOneOf(sql`id`, ids)}`),
  withNames: (names: readonly string[]) =>
    db.all<Game>(sql`${gameColumns} where ${isOneOf(sql`name`, names)} order by length(id), id`),
  withIgdbIds: (ids: readonly string[]) =>
    db.all<Game>(
      sql`${gameColumns} where ${isOneOf(sql`igdb_id`, ids)} and igdb_id <> '' order by length(id), id`,
    ),
  search: (search: GameSearch, window: Window) => searchGames(db, search, window),
  page: (
    filter: Pick<Owners, 'organization_id'> & { readonly name?: string | undefined },
    window: Window,
  ): MaybePromise<Page<Game>> =>
    keysetPage<Game>(db, {
      select: gameColumns,
      where: [...ofOrganization(filter), ...called(filter)],
      order: BY_NUMBER,
      window,
    }),
})

const benefitColumns = sql`select id, name, organization_id, game_id from benefits`

export const benefitQueries = (db: Database) => ({
  find: (id: string) => db.get<Benefit>(sql`${benefitColumns} where id = ${id.toLowerCase()}`),
  withIds: (ids: readonly string[]) => db.all<Benefit>(sql`${benefitColumns} where ${isOneOf(sql`id`, ids)}`),
  page: (filter: Pick<Owners, 'organization_id' | 'game_id'>, window: Window): MaybePromise<Page<Benefit>> =>
    keysetPage<Benefit>(db, {
      select: benefitColumns,
      where: [
        ...ofOrganization(filter),
        ...(filter.game_id === undefined ? [] : [sql`game_id = ${filter.game_id}`]),
      ],
      order: BY_ID,
      window,
    }),
})

/** Client flags as columns. Without an explicit choice, the device flow is on for public clients. */
export const clientFlags = (clients: 'clients' | 'c'): Sql => sql`
    ${verbatim(clients)}.implicit_grant,
    coalesce(${verbatim(clients)}.device_flow, case when ${verbatim(clients)}.kind = 'public' then 1 else 0 end) as device_flow`

export interface ClientFlags {
  readonly implicit_grant: number
  readonly device_flow: number
}

export const readClientFlags = ({ implicit_grant, device_flow }: ClientFlags) => ({
  implicit_grant: implicit_grant === 1,
  device_flow: device_flow === 1,
})

type ClientRow = Omit<Client, 'redirect_uris' | keyof ClientFlags> & ClientFlags & { redirect_uris: string }

const clientColumns = sql`select id, name, organization_id, owner_user_id, kind, redirect_uris,${clientFlags('clients')}
  from clients`
const readClient = (row: ClientRow): Client => ({
  ...row,
  redirect_uris: JSON.parse(row.redirect_uris),
  ...readClientFlags(row),
})

/** A client as OAuth endpoints need it. */
export interface ClientCredentials extends Pick<Client, 'id' | 'kind' | keyof ClientFlags> {
  readonly secret_hash: string | null
}

export const clientQueries = (db: Database) => ({
  find: async (id: string): Promise<Client | undefined> => {
    const row = await db.get<ClientRow>(sql`${clientColumns} where id = ${id}`)
    return row && readClient(row)
  },
  /** What is needed to check a client's credentials. */
  credentials: async (id: string): Promise<ClientCredentials | undefined> => {
    const row = await db.get<Omit<ClientCredentials, keyof ClientFlags> & ClientFlags>(
      sql`select id, kind, secret_hash,${clientFlags('clients')} from clients where id = ${id}`,
    )
    return row && { ...row, ...readClientFlags(row) }
  },
  page: async (
    filter: Pick<Owners, 'organization_id' | 'owner_user_id'>,
    window: Window,
  ): Promise<Page<Client>> => {
    const { owner_user_id } = filter
    const page = await keysetPage<ClientRow>(db, {
      select: clientColumns,
      where: [
        ...ofOrganization(filter),
        ...(owner_user_id === undefined ? [] : [sql`owner_user_id = ${owner_user_id}`]),
      ],
      order: BY_ID,
      window,
    })
    return { ...page, rows: page.rows.map(readClient) }
  },
})

type Decoded = 'tags' | 'is_mature' | 'vod_enabled' | 'content_classification_labels' | 'is_branded_content'
type ChannelRow = Omit<Channel, Decoded> & {
  tags: string
  is_mature: number
  vod_enabled: number
  content_classification_labels: string
  is_branded_content: number
}

/** The columns of a `Channel`. */
export const channelColumns = sql`select user_id, title, coalesce(game_id, '') as game_id, language, tags, is_mature,
    vod_enabled, delay, content_labels as content_classification_labels, is_branded_content,
    second_publisher from channels`

const readChannel = (row: ChannelRow): Channel => ({
  ...row,
  tags: JSON.parse(row.tags),
  is_mature: row.is_mature === 1,
  vod_enabled: row.vod_enabled === 1,
  content_classification_labels: JSON.parse(row.content_classification_labels),
  is_branded_content: row.is_branded_content === 1,
})

/** A channel with the names of its user and game. */
export interface DescribedChannel extends Channel {
  /** That of the user. */
  readonly id: string
  readonly user_login: string
  readonly user_name: string
  readonly game_name: string
}

/** A channel that a user may edit. */
export type EditedChannel = Pick<User, 'id' | 'login' | 'display_name'>

/** Everyone can make anyone an editor, so that the number is not in the hands of the user. */
const MOST_EDITED = 50

export const channelQueries = (db: Database) => ({
  described: (user_ids: readonly string[]): MaybePromise<DescribedChannel[]> =>
    chain(
      db.all<ChannelRow & Omit<DescribedChannel, keyof Channel>>(
        sql`select c.*, c.user_id as id, u.login as user_login, u.display_name as user_name,
              coalesce(g.name, '') as game_name
            from (${channelColumns} where ${isOneOf(sql`user_id`, user_ids)}) c
            join users u on u.id = c.user_id left join games g on g.id = c.game_id`,
      ),
      rows => rows.map(row => ({ ...row, ...readChannel(row) })),
    ),
  find: async (user_id: string): Promise<Channel | undefined> => {
    const row = await db.get<ChannelRow>(sql`${channelColumns} where user_id = ${user_id}`)
    return row && readChannel(row)
  },
  editors: (user_id: string, window: Window) =>
    peopleIn(db, 'editors', 'editor_id', sql`user_id = ${user_id}`, window),
  /** All editors, the newest first (D-85). */
  newestEditors: (user_id: string): MaybePromise<ChannelEditor[]> =>
    db.all<ChannelEditor>(
      sql`select e.editor_id as user_id, u.display_name as user_name, e.created_at
          from editors e join users u on u.id = e.editor_id where e.user_id = ${user_id}
          order by e.created_at desc, length(e.editor_id) desc, e.editor_id desc${limitedTo(MAX_EDITORS)}`,
    ),
  /** The first channels that a user may edit. */
  editedBy: (editor_id: string): MaybePromise<EditedChannel[]> =>
    db.all<EditedChannel>(
      sql`select e.user_id as id, u.login, u.display_name
          from (select user_id from editors where editor_id = ${editor_id}
                order by user_id${limitedTo(MOST_EDITED)}) e
          join users u on u.id = e.user_id
          order by u.login`,
    ),
  followed: (user_id: string, window: Window) =>
    peopleIn(db, 'follows', 'broadcaster_id', sql`user_id = ${user_id}`, window),
  hasEditor: async (user_id: string, editor_id: string): Promise<boolean> =>
    (await db.get(
      sql`select 1 as yes from editors where user_id = ${user_id} and editor_id = ${editor_id}`,
    )) !== undefined,
})
