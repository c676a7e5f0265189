import type { Report } from './report.ts'
import type { StolenTime } from './stolen-time.ts'

/** Of the processors, in five seconds. */
const MUCH = 0.2
/** If more fail, the machine is not the reason. */
const MOST_FILES = 8

/** How files ended that ran together. */
export interface Run {
  readonly code: number
  readonly report: Report
}

/**
 * The files to run again: each of their failures fell into a time in which the host took much of the processors, and so did all
 * others. A failure at any other time is the answer, and so is an error outside a test.
 */
export function unluckyFiles(runs: readonly Run[], stolen: Pick<StolenTime, 'worst'>): string[] {
  const isExplained = runs.every(({ code, report }) => {
    const { failures } = report
    if (code === 0) return true
    return (
      failures.length > 0 &&
      failures.length === report.count('fail') &&
      report.count('error') === 0 &&
      failures.every(({ from, to }) => stolen.worst(from, to) > MUCH)
    )
  })
  const files = new Set(runs.flatMap(({ report }) => report.failures.map(({ file }) => file)))
  return isExplained && files.size <= MOST_FILES ? [...files].map(file => `./${file}`) : []
}
