import type { Operation, Read } from './operation.ts'

/** Reads that showed a client an older version of a group than it had seen before. */
export function backwardReads(history: readonly Operation[]): Read[] {
  const newest = new Map<string, string>()
  const backward: Read[] = []
  for (const each of history.toSorted((a, b) => a.invoked - b.invoked)) {
    if (each.kind !== 'read' || each.outcome !== 'ok') continue
    const client = `${each.process} ${each.key}`
    const shown = each.rows.reduce((low, row) => (row.version < low ? row.version : low), '~')
    const before = newest.get(client) ?? ''
    if (shown < before) backward.push(each)
    else newest.set(client, shown)
  }
  return backward
}
