import { entitlementReads, entitlementWrites } from './entitlements.ts'
import type { Scenario } from './scenario.ts'
import { createStreamMarker, streamReads } from './streams.ts'
import { userReads } from './users.ts'

/** Every scenario, reads before writes, so that the reads meet the world as it was made. */
export const scenarios: readonly Scenario[] = [
  ...streamReads,
  ...entitlementReads,
  ...userReads,
  createStreamMarker,
  ...entitlementWrites,
]
