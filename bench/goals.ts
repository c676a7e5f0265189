/** The table of goals: what is asked of the work, and the result that is farthest from it. */
import type { Measure, Result } from './bench.ts'
import { goalOf, isReached, row, shown } from './format.ts'
import { demo } from './measures/demo.ts'
import { growth } from './measures/growth.ts'
import { install } from './measures/install.ts'
import { pages } from './measures/pages.ts'
import { scenarioMeasure } from './measures/scenario.ts'
import { starts } from './measures/starts.ts'
import { scenarios } from './scenarios/index.ts'
import { BASELINES } from './scenarios/scenario.ts'

/** Starts come first, while nothing else runs. */
export const goalMeasures: readonly Measure[] = [
  install,
  starts,
  ...scenarios.map(scenarioMeasure),
  growth,
  pages,
  demo,
]

const { bare, least, usual } = BASELINES
const byIds = (result: Result) => /100 ids/.test(result.work)

/** Of all results those of one goal. */
const ROWS: readonly (readonly [work: string, belongs: (result: Result) => boolean])[] = [
  ['Top page of GetStreams', ({ unit, work }) => unit === bare && work.startsWith('GetStreams')],
  ['Reads with a least server', result => result.unit === least && !byIds(result)],
  ['GetUsers, GetChannelInformation by 100 ids', result => result.unit === least && byIds(result)],
  ['Reads', ({ unit, atLeast = 0 }) => unit === usual && atLeast < 3],
  ['Durable writes with 32 callers', ({ unit, atLeast = 0 }) => unit === usual && atLeast >= 3],
  [
    'Growth to 100,000 live streams and 1,000,000 entitlements',
    ({ unit }) => unit === 'of the smallest world',
  ],
  ['A request of the demo', ({ unit }) => unit === 'of serve'],
  ['A page of the site', ({ unit }) => unit === 'ms of CPU'],
  ['A cached part of the site', ({ unit }) => unit === 'ms of CPU, cached'],
  ['Start of a checkout, empty store', ({ unit }) => unit === 's from a checkout'],
  ['Start of the package, empty store', ({ unit }) => unit === 's from the package'],
  ['`npm install` with a warm cache', ({ unit }) => unit === 's of npm install'],
]

export function goalTable(results: readonly Result[]): string {
  const lines = ROWS.flatMap(([work, belongs]) => {
    const parts = results.filter(each => goalOf(each) !== '' && belongs(each))
    const [first] = parts
    if (first === undefined) return []
    // The worst one: farthest down where much is good, farthest up where little is.
    const sign = first.atLeast === undefined ? -1 : 1
    const ordered = parts.toSorted((a, b) => sign * (a.value - b.value))
    const worst = ordered
      .slice(0, 1)
      .map(each => `${shown(each)}${parts.length > 1 ? ` (${each.work})` : ''}`)
    const best = ordered.slice(1).slice(-1).map(shown)
    const reached = parts.filter(isReached).length
    const status = reached === parts.length ? 'reached' : `**${reached} of ${parts.length}**`
    return [row([work, `${goalOf(first)} ${first.unit}`, [...worst, ...best].join(' to '), status])]
  })
  return [row(['Work', 'Goal', 'Measured', 'Status']), row(['---', '---', '---', '---']), ...lines, ''].join(
    '\n',
  )
}
