/** Lines of the report that many faults share. */
import { type Judgement, judge } from '../judge/judge.ts'
import { faultsOfWalk } from '../judge/walks.ts'
import { type Asked, outcomeOf, type Work } from '../load/caller.ts'
import type { Recorded } from '../load/load.ts'
import type { World } from '../world.ts'
import type { Finding } from './fault.ts'

/** The server's deadline, and a quarter of a second for the way there and back, on a machine that does everything. */
export const DEADLINE_SECONDS = 3.25

/** A line about a number that must not be larger than another. */
export function atMost(asked: string, value: number | undefined, limit: number, unit = ''): Finding {
  return {
    asked,
    measured: value === undefined ? 'never' : `${shown(value)}${unit}`,
    goal: limit === 0 ? '0' : `at most ${shown(limit)}${unit}`,
    verdict: value !== undefined && value <= limit ? 'held' : 'broken',
    isOfSpeed: unit === ' s' || unit === ' ms',
  }
}

export function noted(asked: string, measured: string): Finding {
  return { asked, measured, goal: '', verdict: 'noted' }
}

export function shown(value: number): string {
  return (
    Number.isInteger(value) || Math.abs(value) >= 100 ? Math.round(value) : Number(value.toFixed(2))
  ).toLocaleString('en-US')
}

/** What must hold whatever happens: nothing acknowledged is lost, nothing is torn, no answer is nonsense. */
export function usualFindings(recorded: Recorded, world: World): Finding[] {
  return [
    historyFinding(recorded),
    lostFinding(recorded),
    errorFinding(recorded.asked),
    directoryFinding(recorded, world),
    atMost(
      'time until every node agrees with the store',
      inSeconds(recorded.agreement.milliseconds),
      5,
      ' s',
    ),
  ]
}

function historyFinding({ operations, groups }: Recorded): Finding {
  const judgement = judge(operations, groups)
  const { impossible, undecided, torn, backward, unknown } = judgement
  const history =
    impossible.length > 0
      ? `no valid order for ${impossible.length} of ${groups.length} groups (${impossible[0]})`
      : undecided > 0
        ? `undecided for ${undecided} groups`
        : 'linearizable'
  return {
    asked: 'entitlements: linearizability; torn batches; versions going backward',
    measured: `${shown(judgement.operations)} operations, ${shown(unknown)} unknown: ${history}; ${torn} torn, ${backward} backward`,
    goal: 'linearizable; 0; 0',
    verdict: isSound(judgement) ? 'held' : 'broken',
  }
}

function isSound({ impossible, undecided, torn, backward }: Judgement): boolean {
  return impossible.length + undecided + torn + backward === 0
}

function lostFinding({ markers, wrongChannels }: Recorded): Finding {
  return {
    asked: 'lost acknowledged markers, starts and ends',
    measured: `${markers.lost} of ${shown(markers.acknowledged)} markers, ${wrongChannels} channels`,
    goal: '0',
    verdict: markers.lost + wrongChannels === 0 ? 'held' : 'broken',
  }
}

/** Failures of the server: the only one that is allowed is 503 with the word when to come back. */
function errorFinding(asked: readonly Asked[]): Finding {
  const failed = asked.filter(each => outcomeOf(each) === 'unknown')
  const others = failed.filter(each => each.status !== 503 || !each.retryAfter)
  const list = listOfKinds(others)
  return {
    asked: 'failures other than 503 with Retry-After',
    measured: `${shown(others.length)}${list && ` (${list})`}, plus ${shown(failed.length - others.length)} with 503, in ${shown(asked.length)} requests`,
    goal: '0',
    verdict: others.length === 0 ? 'held' : 'broken',
  }
}

/** `update 502 ECONNRESET: 3, read 504: 1` */
export function listOfKinds(failed: readonly Asked[]): string {
  const kinds = Map.groupBy(failed, each =>
    `${each.work} ${each.status || 'no answer'} ${each.remark}`.trim(),
  )
  return [...kinds].map(([kind, all]) => `${kind}: ${all.length}`).join(', ')
}

function directoryFinding({ asked, walks }: Recorded, { steady, churning }: World): Finding {
  const reads = asked.filter(each => each.work === 'directory' || each.work === 'walk')
  const failed = reads.filter(each => outcomeOf(each) !== 'ok').length
  const sometimes = new Set(churning)
  const faults = walks
    .filter(walk => walk.whole)
    .map(walk => faultsOfWalk(walk, { throughout: steady, sometimes }))
    .filter(({ twice, missing, neverLive }) => twice + missing + neverLive > 0)
  const list = faults.map(
    ({ twice, missing, neverLive }) => `${twice} duplicate, ${missing} missing, ${neverLive} never live`,
  )
  return {
    asked: 'directory: failed reads; walks with duplicate, missing or unexpected streams',
    measured: `${failed} of ${shown(reads.length)} reads; ${faults.length} of ${shown(walks.length)} walks${list.length > 0 ? ` (${list.join('; ')})` : ''}`,
    goal: '0; 0',
    verdict: failed + faults.length === 0 ? 'held' : 'broken',
  }
}

/** The longest time in which nothing of a kind succeeded, in seconds. */
export function longestSilence(asked: readonly Asked[], work: Work, from: number, to: number): number {
  const successes = asked
    .filter(each => each.work === work && outcomeOf(each) === 'ok')
    .map(each => each.returned)
    .filter(moment => moment > from && moment < to)
    .toSorted((a, b) => a - b)
  let longest = 0
  let before = from
  for (const moment of [...successes, to]) {
    longest = Math.max(longest, moment - before)
    before = moment
  }
  return longest / 1000
}

/** How long after a moment something that was asked later succeeded, in seconds. */
export function firstSuccess(asked: readonly Asked[], work: Work, moment: number): number | undefined {
  const times = asked
    .filter(each => each.work === work && outcomeOf(each) === 'ok' && each.invoked >= moment)
    .map(each => each.returned - moment)
  return times.length === 0 ? undefined : Math.min(...times) / 1000
}

/** The longest that a caller waited for an answer, in seconds. */
export function longestWait(asked: readonly Asked[]): number {
  return asked.reduce((longest, each) => Math.max(longest, each.returned - each.invoked), 0) / 1000
}

/** Requests of a kind that were under way, or begun, in a time. */
export function between(asked: readonly Asked[], work: Work, from: number, to: number): Asked[] {
  return asked.filter(each => each.work === work && each.returned > from && each.invoked < to)
}

/** A percentile of how long answers took, in milliseconds. */
export function percentile(asked: readonly Asked[], share: number): number {
  const times = asked.map(each => each.returned - each.invoked).toSorted((a, b) => a - b)
  return times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? Number.NaN
}

export function inSeconds(milliseconds: number | undefined): number | undefined {
  return milliseconds === undefined ? undefined : milliseconds / 1000
}
