import { tornReads } from './batches.ts'
import { explain } from './linearizable.ts'
import type { Operation, Row } from './operation.ts'
import { backwardReads } from './versions.ts'

/** Entitlements that are always written together, as they were before the history began. */
export interface Group {
  readonly key: string
  readonly size: number
  readonly initial: Row
}

export interface Judgement {
  readonly operations: number
  readonly unknown: number
  /** A sentence for each group that no order explains. */
  readonly impossible: readonly string[]
  readonly undecided: number
  readonly torn: number
  readonly backward: number
}

/** Groups are independent of each other: each has a separate history. */
export function judge(history: readonly Operation[], groups: readonly Group[]): Judgement {
  const byKey = Map.groupBy(history, each => each.key)
  const impossible: string[] = []
  let [undecided, torn] = [0, 0]
  for (const { key, size, initial } of groups) {
    const own = byKey.get(key) ?? []
    const explanation = explain(own, initial)
    if (explanation.verdict === 'impossible') impossible.push(`${key}: ${inWords(explanation.stuck)}`)
    if (explanation.verdict === 'undecided') undecided++
    torn += tornReads(own, size).length
  }
  return {
    operations: history.length,
    unknown: history.filter(each => each.outcome === 'unknown').length,
    impossible,
    undecided,
    torn,
    backward: backwardReads(history).length,
  }
}

function inWords(stuck: Operation): string {
  const when = `called at ${Math.round(stuck.invoked)} ms, answered at ${Math.round(stuck.returned)} ms`
  if (stuck.kind === 'write') return `${stuck.process} wrote ${stuck.status}, ${when}`
  const [row] = stuck.rows
  return `${stuck.process} read ${row?.status} of ${row?.version}, ${when}`
}
