import { isRefusal, type Refusal, refuse } from '../contract/problem.ts'
import type { Channel, User } from '../contract/resources/world.ts'
import { changeLabels, type LabelChanges } from './content-labels.ts'
import { checkTags } from './tags.ts'

/** What a broadcaster changes; absent fields keep their value. */
export interface ChannelUpdate {
  readonly title?: string | undefined
  /** Empty: no game. */
  readonly game_id?: string | undefined
  readonly language?: string | undefined
  readonly tags?: readonly string[] | undefined
  readonly delay?: number | undefined
  readonly labels?: LabelChanges | undefined
  readonly is_branded_content?: boolean | undefined
}

/** The channel after an update, or why the update is refused as a whole (D-79 to D-81). */
export function updateChannel(
  channel: Channel,
  { broadcaster_type }: Pick<User, 'broadcaster_type'>,
  update: ChannelUpdate,
): Channel | Refusal<'malformed_parameter' | 'not_partnered' | 'mature_label_fixed'> {
  const { tags = channel.tags, delay = channel.delay, labels = {} } = update
  // Tags that were stored before there was a rule may be sent back as they were read.
  const checkedTags = JSON.stringify(tags) === JSON.stringify(channel.tags) ? tags : checkTags(tags)
  if (isRefusal(checkedTags)) return checkedTags
  if (update.delay && broadcaster_type !== 'partner') return refuse('not_partnered')
  const changedLabels = changeLabels(channel, labels)
  if (isRefusal(changedLabels)) return changedLabels
  return {
    ...channel,
    title: update.title ?? channel.title,
    game_id: update.game_id ?? channel.game_id,
    language: update.language ?? channel.language,
    tags: [...checkedTags],
    delay,
    content_classification_labels: changedLabels,
    is_branded_content: update.is_branded_content ?? channel.is_branded_content,
  }
}
