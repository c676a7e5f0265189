import { getChannelInformation } from '../../contract/helix/get-channel-information.ts'
import { shownLabels } from '../../domain/content-labels.ts'
import type { DescribedChannel } from '../../store/queries/channels.ts'
import { implement } from '../implement.ts'
import { lookUp } from '../look-up.ts'

export const handleGetChannelInformation = implement(
  getChannelInformation,
  async ({ query, caller }, { store }) => {
    const channels = await lookUp<DescribedChannel>({
      values: query.broadcaster_id,
      find: ids => store.channels.described(ids),
      valueIn: channel => channel.id,
    })
    const own_id = caller.kind === 'user' ? caller.user_id : undefined
    return { data: channels.map(channel => render(channel, { isOwn: channel.id === own_id })) }
  },
)

function render(channel: DescribedChannel, { isOwn }: { isOwn: boolean }) {
  const { game_id, game_name, title, tags, is_branded_content } = channel
  return {
    broadcaster_id: channel.id,
    broadcaster_login: channel.user_login,
    broadcaster_name: channel.user_name,
    broadcaster_language: channel.language,
    game_id,
    game_name,
    title,
    delay: isOwn ? channel.delay : 0,
    tags,
    content_classification_labels: shownLabels(channel),
    is_branded_content,
  }
}
