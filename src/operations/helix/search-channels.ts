import { searchChannels } from '../../contract/helix/search-channels.ts'
import { imageUrl } from '../../contract/image-urls.ts'
import { refuse } from '../../contract/problem.ts'
import type { FoundChannel } from '../../contract/resources/found-channel.ts'
import type { FoundStream } from '../../directory/channel-search.ts'
import { foundKey, parseChannelSearch } from '../../domain/search/channel-search.ts'
import type { MatchingChannel } from '../../store/queries/channel-search.ts'
import { implement } from '../implement.ts'

/** Live channels come from the directory, with their current title and game; the others come from the store (D-68). */
export const handleSearchChannels = implement(
  searchChannels,
  async ({ query, window, paginate }, { directory, store, publicUrl }) => {
    const search = parseChannelSearch(query.query)
    if (search === undefined) return refuse('missing_parameter', 'query')
    if (!directory.isComplete) await directory.complete()
    if (query.live_only?.toLowerCase() === 'true') {
      const page = directory.search(search, window)
      return {
        data: page.rows.map(stream => renderLive(stream, publicUrl)),
        pagination: paginate(page, stream => foundKey(search, stream.user_login)),
      }
    }
    const page = await store.channelSearch.page(search, window)
    return {
      data: page.rows.map(channel => render(channel, directory.findStream(channel.id), publicUrl)),
      pagination: paginate(page, channel => foundKey(search, channel.login)),
    }
  },
)

function renderLive(stream: FoundStream, publicUrl: string): FoundChannel {
  const { user_id, user_login, user_name, language, game_id, game_name, title, tags, started_at } = stream
  return {
    broadcaster_language: language,
    broadcaster_login: user_login,
    display_name: user_name,
    game_id,
    game_name,
    id: user_id,
    is_live: true,
    tag_ids: [],
    tags,
    thumbnail_url: imageUrl(publicUrl, 'users', user_id),
    title,
    started_at,
  }
}

function render(channel: MatchingChannel, stream: FoundStream | undefined, publicUrl: string): FoundChannel {
  const { id, login, display_name, language, game_id, game_name, title, tags } = channel
  const names = { broadcaster_login: login, display_name }
  if (stream !== undefined) return { ...renderLive(stream, publicUrl), ...names }
  return {
    ...names,
    broadcaster_language: language,
    game_id,
    game_name,
    id,
    is_live: false,
    tag_ids: [],
    tags: [...tags],
    thumbnail_url: imageUrl(publicUrl, 'users', id),
    title,
    started_at: '',
  }
}
