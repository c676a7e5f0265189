import { type Refusal, refuse } from '../contract/problem.ts'
import type { Channel } from '../contract/resources/channel.ts'
import { CONTENT_LABELS, MATURE_GAME } from '../contract/resources/content-label.ts'

type Labelled = Pick<Channel, 'content_classification_labels' | 'is_mature'>

/** Labels to switch on or off. */
export type LabelChanges = Readonly<Record<string, boolean>>

const ALL_LABELS: readonly string[] = [...CONTENT_LABELS, MATURE_GAME].sort()

/** The labels among those that a channel can set, each once, in the order in which they are stored and shown. */
export function inLabelOrder(labels: readonly string[]): string[] {
  return CONTENT_LABELS.filter(label => labels.includes(label))
}

/** The labels that clients see, in alphabetical order (D-81). */
export function shownLabels({ content_classification_labels, is_mature }: Labelled): string[] {
  return [...content_classification_labels, ...(is_mature ? [MATURE_GAME] : [])].sort()
}

/** What a request asks for. A label alone is switched on; of several entries for one label, the last counts. */
export function readLabelChanges(
  requested: readonly (string | { readonly id: string; readonly is_enabled: boolean })[],
): LabelChanges | Refusal<'malformed_parameter'> {
  const changes: Record<string, boolean> = {}
  for (const label of requested) {
    const { id, is_enabled } = typeof label === 'string' ? { id: label, is_enabled: true } : label
    if (!ALL_LABELS.includes(id)) {
      const known = ALL_LABELS.map(each => `"${each}"`).join(', ')
      return refuse('malformed_parameter', 'content_classification_labels', `value must be one of ${known}`)
    }
    changes[id] = is_enabled
  }
  return changes
}

/** The stored labels of a channel after the changes. Labels that are not named keep their state. */
export function changeLabels(
  channel: Labelled,
  changes: LabelChanges,
): string[] | Refusal<'mature_label_fixed'> {
  if ((changes[MATURE_GAME] ?? channel.is_mature) !== channel.is_mature) return refuse('mature_label_fixed')
  return CONTENT_LABELS.filter(
    label => changes[label] ?? channel.content_classification_labels.includes(label),
  )
}
