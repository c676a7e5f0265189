import { isRefusal, type Refusal, refuse } from '../contract/problem.ts'
import type { Channel } from '../contract/resources/channel.ts'
import type { User } from '../contract/resources/user.ts'
import { type Changes, changed } from './changes.ts'
import { changeLabels, type LabelChanges } from './content-labels.ts'
import { checkTags } from './tags.ts'

/** What a broadcaster changes; absent fields keep their value. */
export interface ChannelUpdate
  extends Changes<Pick<Channel, 'title' | 'game_id' | 'language' | 'tags' | 'delay' | 'is_branded_content'>> {
  readonly labels?: LabelChanges | undefined
}

/** The channel after an update, or why the update is refused as a whole (D-79 to D-81). */
export function updateChannel(
  channel: Channel,
  { broadcaster_type }: Pick<User, 'broadcaster_type'>,
  update: ChannelUpdate,
): Channel | Refusal<'malformed_parameter' | 'not_partnered' | 'mature_label_fixed'> {
  const tags = checkTags(update.tags ?? channel.tags)
  if (isRefusal(tags)) return tags
  if (update.delay && broadcaster_type !== 'partner') return refuse('not_partnered')
  const labels = changeLabels(channel, update.labels ?? {})
  if (isRefusal(labels)) return labels
  return {
    ...changed(channel, update),
    tags: [...tags],
    content_classification_labels: labels,
  }
}
