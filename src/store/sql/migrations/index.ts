import type { Flavor } from '../tag.ts'
import { foundation } from './001-foundation.ts'
import { feedChain } from './002-feed-chain.ts'
import { gameOfUserEntitlements } from './003-game-of-user-entitlements.ts'
import { oauth } from './004-oauth.ts'
import { sharedWork } from './005-shared-work.ts'
import { audit } from './006-audit.ts'
import { listIndexes } from './008-list-indexes.ts'

/** Every migration, in order: number n stands at place n - 1. One that has been released is never edited. */
export const migrations: readonly ((flavor: Flavor) => string)[] = [
  foundation,
  feedChain,
  gameOfUserEntitlements,
  oauth,
  sharedWork,
  audit,
  listIndexes,
]
