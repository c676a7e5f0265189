/** Users who follow each other, made for one proof. */
import type { Operation } from '../../../src/contract/operation.ts'
import { send } from '../../support/operation.ts'
import type { Ask, TestServer } from '../../support/server.ts'
import { cursorOf, type Row } from './page-rules.ts'

export interface Follow {
  readonly user_id: string
  readonly broadcaster_id: string
}

export const follow = (server: TestServer, follows: readonly Follow[]) =>
  server.control('POST', '/follows', { follows })

export const unfollow = (server: TestServer, { user_id, broadcaster_id }: Follow) =>
  server.control('DELETE', `/users/${user_id}/follows/${broadcaster_id}`)

/** So that what is followed next has a later time. */
export const nextSecond = (server: TestServer) => server.control('POST', '/clock', { advance_seconds: 1 })

let made = 0

/** Users whose ids have one to nineteen digits, so that their order as text is another than as numbers. */
export async function newUsers(server: TestServer, count: number): Promise<string[]> {
  const ids: string[] = []
  while (ids.length < count) {
    made += 1
    const id = `${7 + (made % 3)}${String(made).padStart(1 + ((made * 7) % 18), '0')}`
    if (id.length > 19) continue
    await server.control('PUT', `/users/${id}`, {
      login: `follow_proof_${made}`,
      display_name: `Proof_${made}`,
    })
    ids.push(id)
  }
  return ids
}

/** The latest first, and of the same second the highest id first. */
export const inFollowOrder = <R extends { readonly followed_at: string }>(
  rows: readonly R[],
  idOf: (row: R) => string,
): R[] =>
  rows.toSorted((a, b) => {
    if (a.followed_at !== b.followed_at) return a.followed_at < b.followed_at ? 1 : -1
    return BigInt(idOf(a)) < BigInt(idOf(b)) ? 1 : -1
  })

/** A walk with its totals, one for each page. */
export async function countedWalk(
  server: TestServer,
  operation: Operation,
  ask: Ask,
  sizeOf: (page: number) => number,
  between?: () => Promise<void>,
): Promise<{ rows: Row[]; totals: number[] }> {
  const [rows, totals]: [Row[], number[]] = [[], []]
  let after: string | undefined
  for (let page = 0; page < 2000; page++) {
    const query = { ...ask.query, first: sizeOf(page), after }
    const answer = await send(server, operation, { ...ask, query })
    rows.push(...answer.body.data)
    totals.push(answer.body.total)
    after = cursorOf(answer)
    if (after === undefined) return { rows, totals }
    await between?.()
  }
  throw new Error('the walk does not end')
}
