/**
 * What the store should do, in Maps: a second, simple opinion. Only what the property test exercises is here. Rules are
 * written from `docs/decisions.md`, not from the commands.
 */
import { refuse } from '../../src/contract/problem.ts'
import type { Entitlement } from '../../src/contract/resources/entitlement.ts'

type Status = Entitlement['fulfillment_status']

interface Row extends Entitlement {
  organization_id: string
}

interface MarkerRow {
  id: string
  created_at: string
  description: string
  position_seconds: number
}

interface LiveRow {
  id: string
  video: string | undefined
  started: number
  viewers: number
}

export const iso = (at: number) => new Date(at).toISOString()
const seconds = (at: number) => `${iso(at).slice(0, 19)}Z`
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const DAY = 24 * 3600 * 1000

export class Model {
  readonly entitlements = new Map<string, Row>()
  readonly live = new Map<string, LiveRow>()
  readonly videos: {
    id: string
    user: string
    began: number
    ended: string | undefined
    markers: MarkerRow[]
  }[] = []
  readonly keeps = new Map<string, boolean>()
  readonly editors = new Set<string>()
  readonly keys = new Map<string, { input: string; marker: MarkerRow; at: number }>()
  readonly benefitOwner: ReadonlyMap<string, string>
  readonly gameOwner: ReadonlyMap<string, string>

  constructor(benefitOwner: ReadonlyMap<string, string>, gameOwner: ReadonlyMap<string, string>) {
    this.benefitOwner = benefitOwner
    this.gameOwner = gameOwner
  }

  start(user: string, stream: string, video: string, at: number, viewers: number | undefined) {
    const running = this.live.get(user)
    if (running !== undefined) {
      if (viewers !== undefined) running.viewers = viewers
      return
    }
    const kept = this.keeps.get(user) ?? true
    if (kept) this.videos.push({ id: video, user, began: at, ended: undefined, markers: [] })
    this.live.set(user, { id: stream, video: kept ? video : undefined, started: at, viewers: viewers ?? 0 })
  }

  end(user: string, at: number): unknown {
    const running = this.live.get(user)
    for (const video of this.videos) if (video.id === running?.video) video.ended = seconds(at)
    return this.live.delete(user) ? undefined : refuse('not_live', `login${user}`)
  }

  keepVideos(user: string, kept: boolean, video: string) {
    const running = this.live.get(user)
    if (kept && this.keeps.get(user) === false && running !== undefined && running.video === undefined) {
      running.video = video
      this.videos.push({ id: video, user, began: running.started, ended: undefined, markers: [] })
    }
    this.keeps.set(user, kept)
  }

  viewers(counts: readonly (readonly [string, number])[]) {
    for (const [user, count] of counts) {
      const running = this.live.get(user)
      if (running !== undefined) running.viewers = count
    }
  }

  mark(by: string, user: string, id: string, text: string, key: string | undefined, at: number): unknown {
    const name = `${by} ${key}`
    const used = key === undefined ? undefined : this.keys.get(name)
    if (used !== undefined && used.at > at - DAY) {
      return used.input === `${user} ${text}` ? used.marker : refuse('idempotency_key_reused')
    }
    const running = this.live.get(user)
    const login = `login${user}`
    if (running === undefined) return refuse('not_live', login)
    const video = this.videos.find(each => each.id === running.video)
    if (video === undefined || this.keeps.get(user) === false) return refuse('vods_off', login)
    if (by !== user && !this.editors.has(`${user} ${by}`)) return refuse('marker_forbidden', login)
    const elapsed = Math.floor(at / 1000) - Math.floor(running.started / 1000)
    const latest = Math.max(0, ...video.markers.map(marker => marker.position_seconds))
    const marker = {
      id,
      created_at: seconds(at),
      description: text,
      position_seconds: Math.max(elapsed, latest),
    }
    video.markers.push(marker)
    if (key !== undefined) this.keys.set(name, { input: `${user} ${text}`, marker, at })
    return marker
  }

  latestVideo(user: string) {
    const own = this.videos.filter(video => video.user === user)
    const rank = (ended: string | undefined) => (ended === undefined ? 'z' : ended)
    return own.sort((a, b) =>
      rank(a.ended) === rank(b.ended) ? Number(b.id) - Number(a.id) : rank(a.ended) < rank(b.ended) ? 1 : -1,
    )[0]
  }

  markers(video: string): MarkerRow[] {
    const markers = this.videos.find(each => each.id === video)?.markers ?? []
    return markers.toSorted((a, b) => a.position_seconds - b.position_seconds || (a.id < b.id ? -1 : 1))
  }

  grant(
    grants: readonly {
      id: string
      user_id: string
      benefit_id: string
      game_id: string
      timestamp: string
    }[],
  ): unknown {
    const fresh = new Map<string, Row>()
    for (const grant of grants) {
      const organization_id = this.benefitOwner.get(grant.benefit_id) ?? ''
      if (this.gameOwner.get(grant.game_id) !== organization_id) {
        const why = `The game "${grant.game_id}" is not managed by the organization of the benefit "${grant.benefit_id}".`
        return refuse('refused_reference', why)
      }
      const known = this.entitlements.get(grant.id) ?? fresh.get(grant.id)
      if (known === undefined) {
        fresh.set(grant.id, {
          ...grant,
          organization_id,
          fulfillment_status: 'CLAIMED',
          last_updated: grant.timestamp,
          updated_at: grant.timestamp,
        })
      } else if (
        known.user_id !== grant.user_id ||
        known.benefit_id !== grant.benefit_id ||
        known.game_id !== grant.game_id ||
        known.timestamp !== grant.timestamp
      ) {
        return refuse('entitlement_conflict', grant.id)
      }
    }
    for (const [id, row] of fresh) this.entitlements.set(id, row)
    return grants.map(grant => shown(this.entitlements.get(grant.id) as Row))
  }

  update(ids: readonly string[], status: Status, organization: string, user: string | undefined, at: number) {
    const groups: Record<string, string[]> = {}
    const seen = new Set<string>()
    for (const echo of ids) {
      const id = echo.toLowerCase()
      if (seen.has(id)) continue
      seen.add(id)
      const row = this.entitlements.get(id)
      let outcome = 'SUCCESS'
      if (!UUID.test(echo)) outcome = 'INVALID_ID'
      else if (row === undefined) outcome = 'NOT_FOUND'
      else if (row.organization_id !== organization || (user ?? row.user_id) !== row.user_id)
        outcome = 'UNAUTHORIZED'
      else {
        row.fulfillment_status = status
        const moved = Math.max(at, Date.parse(row.last_updated) + 1)
        row.last_updated = iso(moved)
        row.updated_at = row.last_updated
      }
      groups[outcome] = [...(groups[outcome] ?? []), echo]
    }
    return ['SUCCESS', 'INVALID_ID', 'NOT_FOUND', 'UNAUTHORIZED', 'UPDATE_FAILED'].flatMap(name =>
      groups[name] === undefined ? [] : [{ status: name, ids: groups[name] }],
    )
  }

  list(filter: {
    organization_id: string
    user_id?: string | undefined
    game_id?: string | undefined
    fulfillment_status?: Status | undefined
  }) {
    return [...this.entitlements.values()]
      .filter(row => row.organization_id === filter.organization_id)
      .filter(row => (filter.user_id ?? row.user_id) === row.user_id)
      .filter(row => (filter.game_id ?? row.game_id) === row.game_id)
      .filter(row => (filter.fulfillment_status ?? row.fulfillment_status) === row.fulfillment_status)
      .sort((a, b) =>
        a.timestamp === b.timestamp ? (a.id < b.id ? 1 : -1) : a.timestamp < b.timestamp ? 1 : -1,
      )
      .map(shown)
  }
}

function shown({ organization_id: _, ...entitlement }: Row): Entitlement {
  return { ...entitlement }
}
