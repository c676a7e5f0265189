/**
 * What the demo's users, games and channels have beside names and streams. Drawn from a separate random, so that ids and
 * tokens of a seed do not depend on it.
 */

import { CONTENT_LABELS } from '../contract/resources/content-label.ts'
import type { BROADCASTER_TYPES } from '../contract/resources/user.ts'
import { SeededRandom } from '../kit/random.ts'
import { isoSeconds } from '../kit/time/clock.ts'
import { DESCRIPTIONS, LANGUAGES, TITLES } from './names.ts'
import type { Draft } from './plan/draft.ts'
import { displayName, type Person } from './plan/people.ts'

const DAY = 86_400_000

/** Every account of the demo is older. */
const YOUNGEST_ACCOUNT_DAYS = 270

export const profileRandom = (seed: number) => new SeededRandom(seed ^ 0x5eed)

interface Role {
  readonly isFirstBroadcaster: boolean
  readonly isLive: boolean
  /** Not derived from the login. */
  readonly otherName?: string | undefined
}

export function inventProfile(random: SeededRandom, { login }: Person, role: Role) {
  const ranks: (typeof BROADCASTER_TYPES)[number][] = role.isLive
    ? ['', 'affiliate', 'affiliate', 'partner']
    : ['']
  const rank = random.pick(ranks)
  return {
    display_name: role.otherName ?? displayName(login),
    description: random.pick(DESCRIPTIONS),
    broadcaster_type: role.isFirstBroadcaster ? ('partner' as const) : rank,
    email: `${login}@example.com`,
  }
}

/** Only partners may have a delay. */
export function inventLabels(random: SeededRandom, isPartner: boolean) {
  const delay = random.pick([0, 0, 15, 60])
  return {
    delay: isPartner ? delay : 0,
    content_classification_labels: CONTENT_LABELS.filter(() => random.next() < 0.1),
    is_branded_content: random.next() < 0.1,
  }
}

export const inventIgdbId = (random: SeededRandom, index: number): string =>
  String(random.between(1000, 9999) + index * 10_000)

/** A time in the past at which every account existed. */
export const inventTime = (random: SeededRandom, now: number): string =>
  isoSeconds(now - random.between(1, YOUNGEST_ACCOUNT_DAYS * 24 * 60) * 60_000)

/** Videos of earlier streams, the newest some days old. */
export function planEarlierVideos(
  { steps, now }: Draft,
  random: SeededRandom,
  people: readonly Person[],
  games: readonly { id: string }[],
): void {
  const lines = people.flatMap(({ id: user_id }) =>
    Array.from({ length: random.between(3, 6) }, (_, index) => {
      const began = now - (4 + 9 * index) * DAY - random.between(0, 5 * 24 * 60) * 60_000
      return {
        type: 'video' as const,
        id: String(100_000_000_000 + Number(user_id) * 100 + index),
        user_id,
        created_at: isoSeconds(began),
        ended_at: isoSeconds(began + random.between(600, 30_000) * 1000),
        stream_id: String(200_000_000_000 + Number(user_id) * 100 + index),
        title: random.pick(TITLES),
        description: random.pick(DESCRIPTIONS),
        language: random.pick(LANGUAGES),
        game_id: random.pick(games).id,
        view_count: random.between(10, 90_000),
      }
    }),
  )
  steps.push(['importLines', { lines, now }])
}
