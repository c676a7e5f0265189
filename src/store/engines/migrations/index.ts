import type { Dialect } from '../../sql/tag.ts'
import { foundation } from './001-foundation.ts'
import { feedChain } from './002-feed-chain.ts'
import { gameOfUserEntitlements } from './003-game-of-user-entitlements.ts'
import { oauth } from './004-oauth.ts'
import { sharedWork } from './005-shared-work.ts'
import { audit } from './006-audit.ts'
import { oauthLimits } from './007-oauth-limits.ts'
import { listIndexes } from './008-list-indexes.ts'
import { openid } from './009-openid.ts'
import { neighbours } from './010-neighbours.ts'
import { publishSessions } from './011-publish-sessions.ts'
import { mediaServers } from './012-media-servers.ts'
import { keysAndViewers } from './013-keys-and-viewers.ts'
import { events } from './014-events.ts'
import { studio } from './015-studio.ts'
import { playbackUrl } from './016-playback-url.ts'
import { compactRows } from './017-compact-rows.ts'
import { keysByMasterKey } from './018-keys-by-master-key.ts'
import { departedPublishers } from './019-departed-publishers.ts'
import { listFilters } from './020-list-filters.ts'
import { eventQueues } from './021-event-queues.ts'

export interface Migration {
  readonly text: (dialect: Dialect) => string
  /**
   * Whether the previous release can serve a store with this migration: what it reads still exists, what it writes is still
   * accepted, and its lists still have their indexes. Then an upgrade can be rolled back.
   */
  readonly additive: boolean
}

/** All migrations, in order: number n has index n - 1. A released migration is never edited. */
export const migrations: readonly Migration[] = [
  { text: foundation, additive: false },
  { text: feedChain, additive: false },
  { text: gameOfUserEntitlements, additive: false },
  { text: oauth, additive: false },
  { text: sharedWork, additive: false },
  { text: audit, additive: false },
  { text: oauthLimits, additive: false },
  { text: listIndexes, additive: false },
  { text: openid, additive: true },
  { text: neighbours, additive: true },
  { text: publishSessions, additive: true },
  { text: mediaServers, additive: true },
  { text: keysAndViewers, additive: true },
  { text: events, additive: true },
  { text: studio, additive: true },
  { text: playbackUrl, additive: true },
  { text: compactRows, additive: false },
  { text: keysByMasterKey, additive: true },
  { text: departedPublishers, additive: true },
  { text: listFilters, additive: false },
  { text: eventQueues, additive: false },
]
