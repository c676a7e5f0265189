import type { Stage } from '../stage.ts'
import { Caller } from './caller.ts'

const MAX_WAIT_MILLISECONDS = 20_000

export interface Agreement {
  /** How long it took until every node showed what the store holds; undefined if it never came to that. */
  readonly milliseconds: number | undefined
  /** Who is live, by the store. */
  readonly live: ReadonlySet<string>
}

/** Waits until the directory of every node is what the store holds: the same streams with the same viewers. */
export async function untilNodesAgree({ postgres, nodes }: Stage): Promise<Agreement> {
  const began = performance.now()
  for (;;) {
    const rows = await postgres.primary.ask<{ user_id: string; viewer_count: number }>(
      'select user_id, viewer_count from streams',
    )
    const held = inOneText(rows)
    const shown = await Promise.all(nodes.map(node => directoryOf(node.url)))
    const milliseconds = performance.now() - began
    const live = new Set(rows.map(each => each.user_id))
    if (shown.every(each => each === held)) return { milliseconds, live }
    if (milliseconds > MAX_WAIT_MILLISECONDS) return { milliseconds: undefined, live }
    await Bun.sleep(50)
  }
}

/** What one node shows, as a text that can be compared. */
export async function directoryOf(url: string): Promise<string> {
  const caller = new Caller(url)
  const rows: { user_id: string; viewer_count: number }[] = []
  let after = ''
  for (;;) {
    const { status, body } = await caller.ask('looking', 'GET', `/helix/streams?first=100${after}`)
    if (status !== 200) return `answered ${status}`
    rows.push(...body.data)
    if (body.pagination.cursor === undefined) return inOneText(rows)
    after = `&after=${encodeURIComponent(body.pagination.cursor)}`
  }
}

function inOneText(rows: readonly { user_id: string; viewer_count: number }[]): string {
  return rows
    .map(each => `${each.user_id}:${each.viewer_count}`)
    .sort()
    .join()
}
