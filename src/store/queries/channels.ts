import type { PageRequest } from '../../contract/page.ts'
import { type Channel, type ChannelEditor, MAX_EDITORS } from '../../contract/resources/channel.ts'
import type { User } from '../../contract/resources/user.ts'
import { Columns, flag, json, plain, reference } from '../columns.ts'
import type { Database } from '../database.ts'
import { isOneOf, limitedTo, sql } from '../sql/tag.ts'
import { usersIn } from './users.ts'

export const channelColumns = new Columns<Channel>('channels', {
  user_id: plain,
  title: plain,
  game_id: reference('game_id'),
  language: plain,
  tags: json(),
  is_mature: flag,
  vod_enabled: flag,
  delay: plain,
  content_classification_labels: json('content_labels'),
  is_branded_content: flag,
  second_publisher: plain,
})
const { select } = channelColumns

/** A channel with the names of its user and game. */
export interface DescribedChannel extends Channel {
  /** The id of the user. */
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
  /** Without those of suspended users. */
  described: async (user_ids: readonly string[]): Promise<DescribedChannel[]> => {
    const rows = await db.all<Omit<DescribedChannel, keyof Channel>>(
      sql`select c.*, c.user_id as id, u.login as user_login, u.display_name as user_name,
            coalesce(g.name, '') as game_name
          from (${select} where ${isOneOf(sql`user_id`, user_ids)}) c
          join users u on u.id = c.user_id and u.suspended_at is null left join games g on g.id = c.game_id`,
    )
    return rows.map(row => channelColumns.read(row))
  },
  find: async (user_id: string): Promise<Channel | undefined> => {
    const row = await db.get<object>(sql`${select} where user_id = ${user_id}`)
    return row && channelColumns.read(row)
  },
  editors: (user_id: string, window: PageRequest) =>
    usersIn(db, 'editors', 'editor_id', sql`user_id = ${user_id}`, window),
  /** All editors who are not suspended, the newest first (D-85). */
  newestEditors: (user_id: string): Promise<ChannelEditor[]> =>
    db.all<ChannelEditor>(
      sql`select e.editor_id as user_id, u.display_name as user_name, e.created_at
          from editors e join users u on u.id = e.editor_id and u.suspended_at is null where e.user_id = ${user_id}
          order by e.created_at desc, length(e.editor_id) desc, e.editor_id desc${limitedTo(MAX_EDITORS)}`,
    ),
  /** The first channels that a user may edit, without those of suspended users. */
  editedBy: (editor_id: string): Promise<EditedChannel[]> =>
    db.all<EditedChannel>(
      sql`select e.user_id as id, u.login, u.display_name
          from (select user_id from editors where editor_id = ${editor_id}
                order by user_id${limitedTo(MOST_EDITED)}) e
          join users u on u.id = e.user_id and u.suspended_at is null
          order by u.login`,
    ),
  followed: (user_id: string, window: PageRequest) =>
    usersIn(db, 'follows', 'broadcaster_id', sql`user_id = ${user_id}`, window),
  hasEditor: async (user_id: string, editor_id: string): Promise<boolean> =>
    (await db.get(
      sql`select 1 as yes from editors where user_id = ${user_id} and editor_id = ${editor_id}`,
    )) !== undefined,
})
