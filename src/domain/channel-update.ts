import { isRefusal, type Refusal, refuse } from '../contract/problem.ts'
import type { Channel, User } from '../contract/resources/world.ts'
import { changeLabels, type LabelChanges } from './content-labels.ts'
import { tagsToStore } from './tags.ts'

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
  const tags = tagsToStore(channel.tags, update.tags ?? channel.tags)
  if (isRefusal(tags)) return tags
  if (update.delay && broadcaster_type !== 'partner') return refuse('not_partnered')
  const labels = changeLabels(channel, update.labels ?? {})
  if (isRefusal(labels)) return labels
  return {
    ...channel,
    title: update.title ?? channel.title,
    game_id: update.game_id ?? channel.game_id,
    language: update.language ?? channel.language,
    tags: [...tags],
    delay: update.delay ?? channel.delay,
    content_classification_labels: labels,
    is_branded_content: update.is_branded_content ?? channel.is_branded_content,
  }
}
