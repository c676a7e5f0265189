import type { PostgresNode } from '../cluster/postgres-node.ts'
import { type Fault, underLoad } from './fault.ts'
import { atMost, longestSilence, noted, shown, usualFindings } from './findings.ts'

const PAUSE_MILLISECONDS = 10_000
const HAUNTING_MILLISECONDS = 5000
const MAX_WAIT_MILLISECONDS = 3000

/** F8 */
export const failoverZombie: Fault = {
  name: 'failover-zombie',
  what: 'the primary is paused, a standby is promoted, and then the old primary resumes unaware of it',
  seconds: () => 40,
  strike: async ground => {
    const { postgres } = ground.stage
    let [paused, over, tookToPromote] = [0, 0, 0]
    let acknowledged = true
    const recorded = await underLoad(ground, async () => {
      const old = postgres.primary
      paused = performance.now()
      old.pause()
      tookToPromote = await postgres.failOver()
      await Bun.sleep(PAUSE_MILLISECONDS)
      old.resume()
      acknowledged = await acknowledgesAWrite(old)
      await Bun.sleep(HAUNTING_MILLISECONDS)
      over = performance.now()
      await postgres.rebuild(old)
      await postgres.untilInStep()
    })
    return [
      noted('time the rig needs to promote a standby', `${shown(tookToPromote / 1000)} s`),
      {
        asked: 'the old primary acknowledges a write after it resumes',
        measured: acknowledged ? 'yes' : `not within ${MAX_WAIT_MILLISECONDS / 1000} s`,
        goal: 'no',
        verdict: acknowledged ? 'broken' : 'held',
      },
      atMost(
        'longest time without a write',
        longestSilence(recorded.asked, 'update', paused, over),
        12,
        ' s',
      ),
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
