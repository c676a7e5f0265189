import type { Page, PageRequest } from '../../contract/page.ts'
import type { ChannelFollower, FollowedChannel } from '../../contract/resources/channel.ts'
import type { Database } from '../database.ts'
import { filteredPage, type List } from '../keyset.ts'
import { inOrderThenByNumber, type KeyedOrder } from '../keyset-order.ts'
import { sql, verbatim } from '../sql/tag.ts'

/**
 * One end of a follow: the other end lists it with its names, the latest follow first (D-83, D-84). Suspended users are passed
 * over, and still counted (D-271).
 */
function endOfFollow(
  end: 'user' | 'broadcaster',
): Pick<List<never>, 'select' | 'around' | 'descending'> & { readonly order: KeyedOrder } {
  const id = verbatim(`f.${end}_id`)
  const names = verbatim(`u.login as ${end}_login, u.display_name as ${end}_name, u.suspended_at`)
  return {
    select: verbatim(`select ${end}_id, followed_at from follows`),
    around: page => sql`select ${id}, ${names}, f.followed_at from (${page}) f join users u on u.id = ${id}
      order by f.followed_at desc, length(${id}) desc, ${id} desc`,
    order: inOrderThenByNumber(['followed_at'], `${end}_id`),
    descending: true,
  }
}

const followed = endOfFollow('broadcaster')
const follower = endOfFollow('user')

export const followedSortKey = followed.order.sortKey
export const followerSortKey = follower.order.sortKey

const ofUser = (id: string | undefined) => (id === undefined ? [] : [sql`user_id = ${id}`])
const ofBroadcaster = (id: string | undefined) => (id === undefined ? [] : [sql`broadcaster_id = ${id}`])

type WithSuspension<Row> = Row & { readonly suspended_at: string | null }

async function pageOfActive<Row>(db: Database, list: List<WithSuspension<Row>>): Promise<Page<Row>> {
  const page = await filteredPage(db, { ...list, filter: row => row.suspended_at === null })
  return { ...page, rows: page.rows.map(({ suspended_at: _, ...row }) => row as Row) }
}

export const followQueries = (db: Database) => {
  /** Counted where follows are written, so that it costs the same for a channel with a million followers (D-93). */
  const counted = async (column: 'following' | 'followers', user_id: string): Promise<number> => {
    const row = await db.get<{ total: number | string }>(
      sql`select ${verbatim(column)} as total from follow_counts where user_id = ${user_id}`,
    )
    return Number(row?.total ?? 0)
  }
  return {
    /** The ids of all channels that a user follows. */
    of: async (user_id: string): Promise<string[]> => {
      const rows = await db.all<{ broadcaster_id: string }>(
        sql`select broadcaster_id from follows where user_id = ${user_id}`,
      )
      return rows.map(row => row.broadcaster_id)
    },

    /** The channels that a user follows, or one of them. */
    followed: (
      { user_id, broadcaster_id }: { readonly user_id: string; readonly broadcaster_id?: string | undefined },
      window: PageRequest,
    ): Promise<Page<FollowedChannel>> =>
      pageOfActive<FollowedChannel>(db, {
        ...followed,
        where: [...ofUser(user_id), ...ofBroadcaster(broadcaster_id)],
        window,
      }),
    countFollowed: (user_id: string) => counted('following', user_id),

    /** The followers of a channel, or one of them. */
    followers: (
      { broadcaster_id, user_id }: { readonly broadcaster_id: string; readonly user_id?: string | undefined },
      window: PageRequest,
    ): Promise<Page<ChannelFollower>> =>
      pageOfActive<ChannelFollower>(db, {
        ...follower,
        where: [...ofBroadcaster(broadcaster_id), ...ofUser(user_id)],
        window,
      }),
    countFollowers: (broadcaster_id: string) => counted('followers', broadcaster_id),
  }
}
