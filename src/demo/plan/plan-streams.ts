/** The demo's streams and their markers. */

import { assertDefined } from '../../kit/assert-defined.ts'
import type { SeededRandom } from '../../kit/random.ts'
import { isoSeconds } from '../../kit/time/clock.ts'
import { LANGUAGES, MARKERS, TAGS, TITLES } from '../names.ts'
import { inventLabels } from '../profiles.ts'
import type { Draft } from './draft.ts'
import type { Person } from './people.ts'

const MINUTE = 60_000
const PAST_TITLE = 'Warm-up before the tournament'

interface StreamDraft extends Draft {
  readonly random: SeededRandom
  readonly profiles: SeededRandom
  readonly client_id: string
}

/** A stream that ran yesterday and left a video with markers. */
export function planPastVideo(draft: StreamDraft, person: Person): void {
  const began = draft.now - 1500 * MINUTE
  draft.steps.push(['changeChannel', { user_id: person.id, title: PAST_TITLE, video_id: '' }])
  draft.steps.push(['startStream', planOneStream(draft.random, person, began, false)])
  planMarkers(draft, person, began, 8)
  draft.steps.push(['endStream', { user_id: person.id, now: began + 120 * MINUTE }])
}

export function planStream(
  draft: StreamDraft,
  person: Person,
  index: number,
  games: readonly { id: string }[],
  isPartner: boolean,
): void {
  const { steps, random } = draft
  const began = draft.now - random.between(5, 600) * MINUTE
  steps.push([
    'changeChannel',
    {
      user_id: person.id,
      title: random.pick(TITLES),
      // The first broadcaster plays the first game; a few of the others play none.
      game_id:
        index === 0
          ? assertDefined(games[0], 'a game').id
          : random.next() < 0.05
            ? ''
            : random.pick(games).id,
      language: random.pick(LANGUAGES),
      tags: [...new Set([random.pick(TAGS), random.pick(TAGS)])],
      is_mature: random.next() < 0.1,
      vod_enabled: index !== 1,
      ...inventLabels(draft.profiles, isPartner),
      video_id: '',
    },
  ])
  const viewer_count = Math.floor(20_000 / (index + 1)) + random.between(0, 40)
  steps.push(['startStream', { ...planOneStream(random, person, began), viewer_count }])
  if (index === 0) planMarkers(draft, person, began, 25)
}

/** Ids are derived from that of the user, so that they are unique. */
function planOneStream(random: SeededRandom, person: Person, began: number, again = true) {
  return {
    user_id: person.id,
    stream_id: String(40_000_000_000 + Number(person.id) * 10 + random.between(0, 4) + (again ? 5 : 0)),
    video_id: String(1_000_000_000 + Number(person.id) * 10 + random.between(0, 4) + (again ? 5 : 0)),
    started_at: isoSeconds(began),
  }
}

function planMarkers(
  { steps, random, client_id }: StreamDraft,
  { id }: Person,
  began: number,
  count: number,
) {
  for (let index = 1; index <= count; index++) {
    const marker_id = random.hex(32)
    const caller = { client_id, user_id: id }
    const marker = { marker_id, broadcaster_id: id, description: random.pick(MARKERS), caller }
    steps.push(['createMarker', { ...marker, now: began + index * 10_000 }])
  }
}
