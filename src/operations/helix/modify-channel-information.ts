import { modifyChannelInformation } from '../../contract/helix/modify-channel-information.ts'
import type { BodyOf } from '../../contract/operation.ts'
import { isRefusal, refuse } from '../../contract/problem.ts'
import { requireOwnId } from '../../domain/access.ts'
import { userAuthor } from '../../domain/audit.ts'
import type { ChannelUpdate } from '../../domain/channel-update.ts'
import { readLabelChanges } from '../../domain/content-labels.ts'
import { implement } from '../implement.ts'

export const handleModifyChannelInformation = implement(
  modifyChannelInformation,
  async ({ query, body, caller }, { store, clock }) => {
    if (Object.keys(body).length === 0) return refuse('nothing_to_update')
    const labels = readLabelChanges(body.content_classification_labels ?? [])
    if (isRefusal(labels)) return labels
    const own = requireOwnId(caller, 'broadcaster_id', query.broadcaster_id)
    if (isRefusal(own)) return own
    const { user_id } = own

    const author = userAuthor(user_id, modifyChannelInformation.id, clock.now())
    const update = { ...toChannelUpdate(body), labels }
    const refused = await store.as(author).commands.modifyChannel({ user_id, update })
    // Tokens are deleted with their user, so this one has just become invalid.
    return refused?.problem === 'not_found' ? refuse('token_invalid') : refused
  },
)

function toChannelUpdate(body: BodyOf<typeof modifyChannelInformation>): ChannelUpdate {
  const { title, game_id, broadcaster_language, tags, delay, is_branded_content } = body
  return {
    title,
    game_id: game_id === '0' ? '' : game_id,
    language: broadcaster_language?.toLowerCase(),
    tags,
    delay,
    is_branded_content,
  }
}
