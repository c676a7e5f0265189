import type { PostgresNode } from '../cluster/postgres-node.ts'
import { type Fault, underLoad } from './fault.ts'
import { atMost, longestSilence, noted, shown, usualFindings } from './findings.ts'

/** From the failure to the return of the old primary: before, while and after the standby is promoted. */
const PAUSES_MILLISECONDS = [10_000, 0, 300, 1000, 3000]
const HAUNTING_MILLISECONDS = 5000
const MAX_WAIT_MILLISECONDS = 3000

/** F8, F30 */
export const failoverZombie: Fault = {
  name: 'failover-zombie',
  what: 'the primary is paused, a standby is promoted, and the old primary resumes unaware of it, around the promotion',
  seconds: pace => 10 + 30 * pace.rounds,
  strike: async ground => {
    const { postgres } = ground.stage
    const { rounds } = ground.pace
    const times: { paused: number; over: number }[] = []
    let [tookToPromote, acknowledged] = [0, 0]
    const recorded = await underLoad(ground, async () => {
      for (let round = 0; round < rounds; round++) {
        const old = postgres.primary
        const paused = performance.now()
        old.pause()
        const promoting = postgres.failOver()
        const resuming = Bun.sleep(PAUSES_MILLISECONDS[round % PAUSES_MILLISECONDS.length] ?? 0).then(() =>
          old.resume(),
        )
        tookToPromote = Math.max(tookToPromote, await promoting)
        await resuming
        if (await acknowledgesAWrite(old)) acknowledged += 1
        await Bun.sleep(HAUNTING_MILLISECONDS)
        times.push({ paused, over: performance.now() })
        await postgres.rebuild(old)
        await postgres.untilInStep()
      }
    })
    const silences = times.map(({ paused, over }) => longestSilence(recorded.asked, 'update', paused, over))
    return [
      noted('longest time the rig needs to promote a standby', `${shown(tookToPromote / 1000)} s`),
      atMost(
        `writes that an old primary acknowledges after it resumes, in ${rounds} rounds`,
        acknowledged,
        0,
      ),
      atMost('longest time without a write', Math.max(...silences), 12, ' s'),
      ...usualFindings(recorded, ground.world),
    ]
  },
}

/** The write is not cancelled, only left alone: a cancelled wait for a standby would count as a commit. */
async function acknowledgesAWrite(node: PostgresNode): Promise<boolean> {
  const connection = node.connect()
  const writing = connection
    .unsafe(`insert into facts (name, value) values ('rig', 'written on the old primary')`)
    .then(
      () => true,
      () => false,
    )
  const acknowledged = await Promise.race([writing, Bun.sleep(MAX_WAIT_MILLISECONDS).then(() => false)])
  void connection.close({ timeout: 0 }).catch(() => undefined)
  return acknowledged
}
