import type { TokenHolder } from '../world.ts'
import { type Caller, outcomeOf } from './caller.ts'

/** Before asking again where a limit was met. */
const WAIT_MILLISECONDS = 2000

/** Markers whose creation was acknowledged, by broadcaster. */
export class MarkerJournal {
  readonly #acknowledged = new Map<TokenHolder, string[]>()

  get size(): number {
    return [...this.#acknowledged.values()].flat().length
  }

  async create(caller: Caller, broadcaster: TokenHolder): Promise<void> {
    const body = { user_id: broadcaster.id, description: 'the jump' }
    const { token } = broadcaster
    const answer = await caller.ask('marker', 'POST', '/helix/streams/markers', { token, body })
    if (outcomeOf(answer) !== 'ok') return
    const known = this.#acknowledged.get(broadcaster) ?? []
    this.#acknowledged.set(broadcaster, [...known, answer.body.data[0].id])
  }

  /** How many of the acknowledged ones are not there. */
  async countLost(caller: Caller): Promise<number> {
    let lost = 0
    for (const [broadcaster, ids] of this.#acknowledged) {
      const listed = await listMarkers(caller, broadcaster)
      lost += ids.filter(id => !listed.has(id)).length
    }
    return lost
  }
}

async function listMarkers(caller: Caller, { id, token }: TokenHolder): Promise<Set<string>> {
  const ids = new Set<string>()
  let after = ''
  for (;;) {
    const path = `/helix/streams/markers?user_id=${id}&first=100${after}`
    const { status, body } = await caller.ask('looking', 'GET', path, { token })
    if (status === 429 || status === 503) {
      await Bun.sleep(WAIT_MILLISECONDS)
      continue
    }
    if (status !== 200) throw new Error(`the markers of ${id} cannot be listed: ${status}`)
    const markers: { id: string }[] = body.data[0]?.videos[0]?.markers ?? []
    for (const marker of markers) ids.add(marker.id)
    if (body.pagination.cursor === undefined) return ids
    after = `&after=${encodeURIComponent(body.pagination.cursor)}`
  }
}
