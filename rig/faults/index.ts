import { carelessFailover } from './careless-failover.ts'
import { churnPaging } from './churn-paging.ts'
import { dbRestart } from './db-restart.ts'
import { deadlock } from './deadlock.ts'
import { failingReceiver } from './failing-receiver.ts'
import { failoverKill } from './failover-kill.ts'
import { failoverUnfenced } from './failover-unfenced.ts'
import { failoverZombie } from './failover-zombie.ts'
import type { Fault, Trial } from './fault.ts'
import { forkedFeed } from './forked-feed.ts'
import { noStatistics } from './no-statistics.ts'
import { nodeKill } from './node-kill.ts'
import { nodePause } from './node-pause.ts'
import { openapiFuzz } from './openapi-fuzz.ts'
import { partition } from './partition.ts'
import { poolExhaustion } from './pool-exhaustion.ts'
import { powerLoss } from './power-loss.ts'
import { propagation } from './propagation.ts'
import { rateLimit } from './rate-limit.ts'
import { rollingRestart } from './rolling-restart.ts'
import { slowRead } from './slow-read.ts'
import { standbysLost } from './standbys-lost.ts'

/** In the order in which they strike: those with servers of their own come first, and then those that only look. */
export const faults: readonly (Fault | Trial)[] = [
  powerLoss,
  openapiFuzz,
  failingReceiver,
  noStatistics,
  slowRead,
  propagation,
  churnPaging,
  rateLimit,
  deadlock,
  rollingRestart,
  nodeKill,
  nodePause,
  partition,
  poolExhaustion,
  dbRestart,
  standbysLost,
  failoverKill,
  failoverZombie,
  failoverUnfenced,
  forkedFeed,
  carelessFailover,
]

/** What a short run strikes with: one of each kind. */
export const quickFaults: readonly (Fault | Trial)[] = [
  powerLoss,
  openapiFuzz,
  churnPaging,
  rateLimit,
  deadlock,
  rollingRestart,
  dbRestart,
  failoverKill,
  carelessFailover,
]
