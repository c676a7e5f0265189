/** The table of goals: what each piece of work was before, is now, and is to be. */
import type { Measure, Result } from './bench.ts'
import { bytes } from './measures/bytes.ts'
import { imports } from './measures/imports.ts'
import { scenarioMeasure } from './measures/scenario.ts'
import { starts, verbs } from './measures/starts.ts'
import { streamChanges } from './measures/stream-changes.ts'
import { goalOf, isReached, row, shown } from './report.ts'
import { scenarios } from './scenarios/index.ts'

const [BARE, LEAST] = ['of the bare server', 'of the least server']

/** What it was, and the measures that it is about: all if none is named. Of their results those with a goal, and this unit. */
type GoalRow = readonly [work: string, before: string, only: readonly string[], unit?: string]

const DROPS = ['by-id', 'of-user', 'page'].map(each => `get-drops-entitlements-${each}`)

const ROWS: readonly GoalRow[] = [
  ['Every read, lowest and highest', `0.57 to 0.84 ${LEAST}`, [], LEAST],
  ['GetStreams by one user, token sent', `0.30 ${BARE}`, ['get-streams-of-user'], BARE],
  ['GetStreamMarkers, 20 of 200', `0.15 ${BARE}`, ['get-stream-markers'], BARE],
  ['GetDropsEntitlements by id / by user and game / page of 20', `0.29 / 0.15 / 0.11 ${BARE}`, DROPS, BARE],
  ['UpdateDropsEntitlements, 100 ids, audited', '0.39 of the update loop', ['update-drops-entitlements']],
  ['CreateStreamMarker, one core / two cores', '1.23 of the marker loop', ['create-stream-marker']],
  ['Bytes of a granted and fulfilled entitlement, SQLite / PostgreSQL', '1,845 / 2,272', [bytes.name]],
  ['Import of entitlements, embedded store, lines/s', '4,700 to 8,800', [imports.name]],
  ['Stream starts and ends per second, PostgreSQL, one node / three', '300', [streamChanges.name]],
  ['`strand` verbs on a store with 20,000 live, s', '1 to 2', [verbs.name]],
  ['Start with 100,000 live, ms', '1,100', [starts.name], 'ms with live streams'],
]

/** Starts come first, while nothing else runs; then what has another world. */
export const goalMeasures: readonly Measure[] = [
  starts,
  verbs,
  imports,
  bytes,
  streamChanges,
  ...scenarios.filter(({ goals }) => 'least server' in goals || 'update loop' in goals).map(scenarioMeasure),
]

export function goalTable(results: ReadonlyMap<string, readonly Result[]>): string {
  return [
    row(['Work', 'Before', 'Now', 'Goal', 'Command']),
    row(['---', '---', '---', '---', '---']),
    ...ROWS.map(([work, before, only, unit]) => {
      const parts = (only.length > 0 ? only : [...results.keys()])
        .flatMap(name => results.get(name) ?? [])
        .filter(each => goalOf(each) !== '' && (unit ?? each.unit) === each.unit)
      const command = only.length > 0 ? only.map(name => `--only ${name}`).join(' ') : '--goals'
      const distinct = [...new Set(parts.map(goalOf))]
      const limits = (distinct.length === 1 ? distinct : parts.map(goalOf)).join(' / ')
      const now = only.length > 0 ? parts.map(valueIn).join(' / ') : endsOf(parts)
      return row([work, before, now, limits, `\`npm run bench -- ${command}\``])
    }),
    '',
  ].join('\n')
}

/** What is reached stands out. */
const valueIn = (each: Result) => (isReached(each) ? `**${shown(each)}**` : shown(each))

function endsOf(parts: readonly Result[]): string {
  const ordered = parts.toSorted((a, b) => a.value - b.value)
  const ends = [...ordered.slice(0, 1), ...ordered.slice(-1)]
  return ends.map(each => `${valueIn(each)} (${each.work})`).join(' to ')
}
