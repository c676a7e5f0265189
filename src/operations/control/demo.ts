import {
  advanceClock,
  clearFaults,
  clearRequests,
  listFaults,
  listRequests,
  listWatching,
  planFault,
  readClock,
  readWorld,
  resetWorld,
  saveSnapshot,
  startWatching,
  stopWatching,
} from '../../contract/control/demo.ts'
import { refuse } from '../../contract/problem.ts'
import { MAX_FAULTS } from '../../contract/resources/fault.ts'
import { assertDefined } from '../../kit/assert-defined.ts'
import { isoMillis, parseTimestamp } from '../../kit/time/clock.ts'
import type { DemoControls } from '../demo/demo-controls.ts'
import { violationIn } from '../demo/faults.ts'
import { isRecordedOperation } from '../demo/request-journal.ts'
import type { WatchingViewer } from '../demo/simulated-viewers.ts'
import { implement } from '../implement.ts'

/** What is played in one request: more would take longer than a request may. */
const MAX_HEARTBEATS = 200_000
const MAX_WATCHED_DAYS = 31
const DAY_MILLISECONDS = 86_400_000
const MAX_WATCHING = 1000

export const handleAdvanceClock = implement(advanceClock, async ({ body }, services) => {
  const { advance_seconds, time, running } = body
  if (advance_seconds === undefined && time === undefined && running === undefined)
    return refuse('none_given', 'advance_seconds', 'time', 'running')
  if (advance_seconds !== undefined && time !== undefined)
    return refuse('refused_reference', 'Only one of advance_seconds and time may be given.')
  const given = time === undefined ? undefined : parseTimestamp(time)
  if (time !== undefined && given === undefined)
    return refuse('malformed_parameter', 'time', 'the day does not exist')
  const demo = assertDefined(services.demo, 'the controls of the demo')
  const { clock, timeline } = demo
  return timeline.alone(async () => {
    // Read once: a clock that runs moves between two reads.
    const now = clock.now()
    const to = given ?? now + Math.round((advance_seconds ?? 0) * 1000)
    // Stored rows and tokens carry times, which must not be in the future.
    if (to < now) {
      const why = `The clock shows ${isoMillis(now)} and cannot move back to ${time}; a reset returns to an earlier time.`
      return refuse('refused_reference', why)
    }
    const tooMuch = refuseLongPlay(demo, to)
    if (tooMuch !== undefined) return tooMuch
    if (running !== undefined) clock.setRunning(running)
    await timeline.playTo(to)
    return { data: [clockState(demo)] }
  })
})

function refuseLongPlay({ clock, viewers }: DemoControls, to: number) {
  const heartbeats = viewers.countHeartbeats(to)
  const isLong = heartbeats > 0 && to - clock.now() > MAX_WATCHED_DAYS * DAY_MILLISECONDS
  if (heartbeats <= MAX_HEARTBEATS && !isLong) return undefined
  const limit = `at most ${MAX_WATCHED_DAYS} days with at most ${MAX_HEARTBEATS} heartbeats are played at a time`
  const why = `${viewers.size} simulated viewers would send ${heartbeats} heartbeats until ${isoMillis(to)}, but ${limit}; move the clock in several steps, or stop viewers.`
  return refuse('refused_reference', why)
}

export const handleReadClock = implement(readClock, async (_call, { demo }) => ({ data: [clockState(demo)] }))

function clockState(demo: DemoControls | undefined) {
  return { now: isoMillis(demo?.clock.now() ?? 0), running: demo?.clock.running ?? true }
}

export const handleStartWatching = implement(
  startWatching,
  async ({ params: { user_id }, body: { channel_id, for_seconds } }, services) => {
    const { timeline, viewers } = assertDefined(services.demo, 'the controls of the demo')
    if ((await services.store.users.find(user_id)) === undefined) return refuse('not_found', 'user', user_id)
    if ((await services.store.users.find(channel_id)) === undefined)
      return refuse('unknown_reference', 'user', channel_id)
    return timeline.alone(async () => {
      const isNew = !viewers.list().some(each => each.user_id === user_id)
      if (isNew && viewers.size >= MAX_WATCHING)
        return refuse(
          'refused_reference',
          `At most ${MAX_WATCHING} simulated viewers may watch; stop some first.`,
        )
      return { data: [renderWatching(await viewers.watch({ user_id, channel_id, for_seconds }))] }
    })
  },
)

export const handleStopWatching = implement(stopWatching, async ({ params }, { demo }) => {
  await demo?.timeline.alone(() => demo.viewers.stop(params.user_id))
  return undefined
})

export const handleListWatching = implement(listWatching, async (_call, { demo }) => ({
  data: (demo?.viewers.list() ?? []).map(renderWatching),
}))

function renderWatching({ since, until, reason, ...ids }: WatchingViewer) {
  return {
    ...ids,
    since: isoMillis(since),
    until: until === undefined ? null : isoMillis(until),
    reason: reason ?? null,
  }
}

export const handleReadWorld = implement(readWorld, async (_call, { demo }) => ({
  data: [{ ...demo?.description }],
}))

export const handlePlanFault = implement(planFault, async ({ body }, { demo }) => {
  const violation = violationIn(body)
  if (violation !== undefined) return refuse('refused_reference', violation)
  if (demo?.faults.plan(body) === false)
    return refuse('refused_reference', `At most ${MAX_FAULTS} faults may be planned; remove some first.`)
  return { data: [demo?.faults.pending.at(-1) ?? body] }
})

export const handleListFaults = implement(listFaults, async (_call, { demo }) => ({
  data: demo?.faults.pending ?? [],
}))

export const handleClearFaults = implement(clearFaults, async (_call, { demo }) => {
  demo?.faults.clear()
  return undefined
})

export const handleListRequests = implement(listRequests, async ({ query }, { demo }) => {
  const { operation, wait_milliseconds = 0, ...filter } = query
  if (operation !== undefined && !isRecordedOperation(operation))
    return refuse('refused_reference', `There is no operation called "${operation}" whose requests are kept.`)
  const data = (await demo?.journal.next({ operation, ...filter }, wait_milliseconds)) ?? []
  return { total: demo?.journal.total(operation) ?? 0, data }
})

export const handleClearRequests = implement(clearRequests, async (_call, { demo }) => {
  demo?.journal.clear()
  return undefined
})

export const handleSaveSnapshot = implement(saveSnapshot, async (_call, { demo }) => {
  await demo?.save()
  return undefined
})

export const handleResetWorld = implement(resetWorld, async ({ body }, { demo }) => {
  await demo?.reset(body.to)
  return undefined
})
