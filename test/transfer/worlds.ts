/** Worlds drawn at random, as lines: whatever one may write into an import. */
import { CONTENT_LABELS } from '../../src/contract/resources/content-label.ts'
import type { TransferLine } from '../../src/contract/resources/transfer.ts'
import { BROADCASTER_TYPES } from '../../src/contract/resources/user.ts'
import { SeededRandom } from '../../src/kit/random.ts'
import { isoMillis, isoSeconds } from '../../src/kit/time/clock.ts'

const TITLES = ['', 'Dive', '"quoted" \\ back', '深海 🦦', 'tab\there', 'line\nbreak', '\u2028', 'é']

export function drawWorld(seed: number, size: number): TransferLine[] {
  const random = new SeededRandom(seed)
  const some = <T>(from: readonly T[], otherwise: T): T => (from.length === 0 ? otherwise : random.pick(from))
  const maybe = <T>(value: T): T | null => (random.next() < 0.5 ? value : null)
  const count = () => random.between(0, size)
  const moment = () => random.between(1_700_000_000_000, 1_790_000_000_000)
  const drawn = new Set<string>()
  const decimal = (): string => {
    const id = String(random.between(1, random.next() < 0.3 ? 99 : 999_999_999))
    if (drawn.has(id)) return decimal()
    drawn.add(id)
    return id
  }
  const lines: TransferLine[] = []
  const organizations = Array.from({ length: count() }, () => random.uuid())
  for (const id of organizations)
    lines.push({ type: 'organization', id, name: random.pick(TITLES) || 'Reef' })
  const users = Array.from({ length: count() }, decimal)
  const suspended = new Set(users.filter(() => random.next() < 0.2))
  for (const id of users) {
    const display_name = random.pick(TITLES) || 'Otter'
    const suspended_at = suspended.has(id) ? isoMillis(moment()) : null
    lines.push({
      type: 'user',
      id,
      login: `user_${id}`,
      display_name,
      description: random.pick(TITLES),
      links: random.next() < 0.5 ? [] : ['Home https://example.com/', '深海 🦦 https://example.com/a?b=%20'],
      broadcaster_type: random.pick(BROADCASTER_TYPES),
      email: maybe(`user_${id}@example.com`),
      created_at: isoMillis(moment()),
      suspended_at,
      suspension_reason: suspended_at === null ? '' : random.pick(TITLES),
    })
  }
  const pairs = <T>(make: (a: string, b: string) => T): T[] => {
    const made = new Map<string, T>()
    for (let n = users.length === 0 ? 0 : count(); n > 0; n--) {
      const [a, b] = [random.pick(users), random.pick(users)]
      made.set(`${a} ${b}`, make(a, b))
    }
    return [...made.values()]
  }
  if (organizations.length > 0) {
    for (const user_id of users.filter(() => random.next() < 0.3))
      lines.push({ type: 'member', organization_id: random.pick(organizations), user_id })
  }
  const games = Array.from({ length: count() }, decimal)
  for (const id of games) {
    const organization_id = organizations.length === 0 ? null : maybe(random.pick(organizations))
    const igdb_id = maybe(String(random.between(0, 999_999))) ?? ''
    lines.push({ type: 'game', id, name: random.pick(TITLES) || 'Kelp', organization_id, igdb_id })
  }
  const benefits = organizations.length === 0 ? [] : Array.from({ length: count() }, () => random.uuid())
  for (const id of benefits) {
    const organization_id = random.pick(organizations)
    const game_id = games.length === 0 ? null : maybe(random.pick(games))
    lines.push({ type: 'benefit', id, name: 'Lamp', organization_id, game_id })
  }
  for (let n = count(); n > 0; n--) {
    const kind = random.pick(['confidential', 'public'] as const)
    const owner_user_id = users.length === 0 ? null : maybe(random.pick(users))
    const organization_id = organizations.length === 0 ? null : maybe(random.pick(organizations))
    const redirect_uris = random.next() < 0.5 ? [] : ['http://localhost/a', 'app:b']
    const rest = {
      kind,
      redirect_uris,
      implicit_grant: random.next() < 0.5,
      device_flow: random.next() < 0.5,
      counts_watching: random.next() < 0.5,
    }
    lines.push({ type: 'client', id: random.hex(30), name: 'Shop', organization_id, owner_user_id, ...rest })
  }
  const channels = users.map(user_id => {
    return {
      type: 'channel' as const,
      user_id,
      title: random.pick(TITLES),
      game_id: some(games, ''),
      language: random.pick(['en', 'de', 'other']),
      tags: random.next() < 0.5 ? [] : ['Calm', '深海'],
      is_mature: random.next() < 0.5,
      vod_enabled: random.next() < 0.5,
      delay: random.between(0, 900),
      content_classification_labels: CONTENT_LABELS.filter(() => random.next() < 0.3),
      is_branded_content: random.next() < 0.5,
      second_publisher: random.pick(['refuse', 'take_over'] as const),
    }
  })
  lines.push(...channels)
  for (const user_id of users.filter(() => random.next() < 0.3))
    lines.push({
      type: 'stream_key',
      user_id,
      name: random.pick(['guest', 'second-encoder', '1']),
      created_at: isoMillis(moment()),
      valid_until: maybe(isoMillis(moment())),
    })
  const related = <T extends object>(pair: T) => ({ ...pair, at: isoSeconds(moment()) })
  for (const { at, ...pair } of pairs((user_id, editor_id) => related({ user_id, editor_id })))
    lines.push({ type: 'editor', ...pair, created_at: at })
  for (const { at, ...pair } of pairs((user_id, broadcaster_id) => related({ user_id, broadcaster_id })))
    lines.push({ type: 'follow', ...pair, followed_at: at })
  const videos = users.filter(() => random.next() < 0.5).map(user_id => ({ id: decimal(), user_id }))
  const mayBroadcast = users.filter(id => !suspended.has(id))
  const streams = new Map(mayBroadcast.filter(() => random.next() < 0.4).map(user_id => [user_id, decimal()]))
  for (const { id, user_id } of videos) {
    const channel = channels.find(each => each.user_id === user_id)
    const stream_id = streams.get(user_id)
    lines.push({
      type: 'video',
      id,
      user_id,
      created_at: isoSeconds(moment()),
      ended_at: maybe(isoSeconds(moment())),
      stream_id: stream_id ?? maybe(decimal()),
      // The video of a running stream has the texts of its channel.
      title: stream_id ? (channel?.title ?? '') : random.pick(TITLES),
      description: random.pick(TITLES),
      language: stream_id ? (channel?.language ?? '') : random.pick(['en', 'other']),
      game_id: (stream_id ? channel?.game_id : some(games, '')) || null,
      view_count: random.between(0, 2_000_000_000),
    })
  }
  for (const [user_id, id] of streams) {
    const video_id = videos.find(video => video.user_id === user_id)?.id ?? null
    const viewer_count = random.between(0, 100_000)
    lines.push({
      type: 'stream',
      id,
      user_id,
      video_id,
      started_at: isoSeconds(moment()),
      viewer_count,
    })
  }
  for (let n = videos.length === 0 ? 0 : count(); n > 0; n--) {
    const video_id = random.pick(videos).id
    const position_seconds = random.between(0, 20_000)
    const description = random.pick(TITLES)
    const created_at = isoSeconds(moment())
    lines.push({ type: 'marker', id: random.hex(32), video_id, position_seconds, description, created_at })
  }
  for (let n = benefits.length * games.length === 0 ? 0 : 3 * count(); n > 0; n--) {
    const at = moment()
    const isGone = users.length === 0 || random.next() < 0.1
    lines.push({
      type: 'entitlement',
      id: random.uuid(),
      user_id: isGone ? decimal() : random.pick(users),
      benefit_id: random.pick(benefits),
      game_id: random.pick(games),
      timestamp: isoMillis(at),
      fulfillment_status: random.pick(['CLAIMED', 'FULFILLED'] as const),
      last_updated: isoMillis(at + random.between(0, 1_000_000)),
      ...(isGone && { user_deleted: true }),
    })
  }
  return lines
}
