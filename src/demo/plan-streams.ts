import { isoSeconds } from '../kit/clock.ts'
import type { SeededRandom } from '../kit/random.ts'
import type { Step } from '../store/commands/index.ts'
import { LANGUAGES, MARKERS, TAGS, TITLES } from './names.ts'
import type { Person } from './people.ts'

const MINUTE = 60_000

/** A stream of yesterday with a video and markers. */
export function planPastVideo(
  steps: Step[],
  random: SeededRandom,
  person: Person,
  client_id: string,
  now: number,
): void {
  const began = now - 1500 * MINUTE
  steps.push(['startStream', streamOf(random, person, began, false)])
  planMarkers(steps, random, person, client_id, began, 8)
  steps.push(['endStream', { user_id: person.id, now: began + 120 * MINUTE }])
}

export function planStream(
  steps: Step[],
  random: SeededRandom,
  person: Person,
  index: number,
  games: readonly { id: string }[],
  client_id: string,
  now: number,
): void {
  const began = now - random.between(5, 600) * MINUTE
  steps.push([
    'changeChannel',
    {
      user_id: person.id,
      title: random.pick(TITLES),
      // The broadcaster plays the world's game; 5 % of the others play none.
      game_id: index === 0 ? (games[0]?.id ?? '') : random.next() < 0.05 ? '' : random.pick(games).id,
      language: random.pick(LANGUAGES),
      tags: [...new Set([random.pick(TAGS), random.pick(TAGS)])],
      is_mature: random.next() < 0.1,
      vod_enabled: index !== 1,
      video_id: '',
    },
  ])
  const viewer_count = Math.floor(20_000 / (index + 1)) + random.between(0, 40)
  steps.push(['startStream', { ...streamOf(random, person, began), viewer_count }])
  if (index === 0) planMarkers(steps, random, person, client_id, began, 25)
}

/** Ids derived from the user's id, so that they are unique. */
function streamOf(random: SeededRandom, person: Person, began: number, again = true) {
  return {
    user_id: person.id,
    stream_id: String(40_000_000_000 + Number(person.id) * 10 + random.between(0, 4) + (again ? 5 : 0)),
    video_id: String(1_000_000_000 + Number(person.id) * 10 + random.between(0, 4) + (again ? 5 : 0)),
    started_at: isoSeconds(began),
  }
}

function planMarkers(
  steps: Step[],
  random: SeededRandom,
  person: Person,
  client_id: string,
  began: number,
  count: number,
): void {
  for (let index = 1; index <= count; index++) {
    steps.push([
      'createMarker',
      {
        marker_id: random.hex(32),
        broadcaster_id: person.id,
        description: random.pick(MARKERS),
        caller: { client_id, user_id: person.id },
        now: began + index * 10_000,
      },
    ])
  }
}
