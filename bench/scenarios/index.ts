import { createStreamMarker } from './create-stream-marker.ts'
import { getChannelFollowersTotal } from './get-channel-followers-total.ts'
import { getDropsEntitlementsById } from './get-drops-entitlements-by-id.ts'
import { getDropsEntitlementsOfUser } from './get-drops-entitlements-of-user.ts'
import { getDropsEntitlementsPage } from './get-drops-entitlements-page.ts'
import { getFollowedStreams } from './get-followed-streams.ts'
import { getImage } from './get-image.ts'
import { getStreamKey } from './get-stream-key.ts'
import { getStreamMarkers } from './get-stream-markers.ts'
import { getStreamsOfUser } from './get-streams-of-user.ts'
import { getStreamsRandom } from './get-streams-random.ts'
import { getStreamsTop } from './get-streams-top.ts'
import { getTopGames } from './get-top-games.ts'
import { getUsersBy100Ids } from './get-users-by-100-ids.ts'
import { getUsersById } from './get-users-by-id.ts'
import type { Scenario } from './scenario.ts'
import { updateDropsEntitlements } from './update-drops-entitlements.ts'
import { validateToken } from './validate-token.ts'

/** Every scenario, reads before writes, so that the reads meet the world as it was made. */
export const scenarios: readonly Scenario[] = [
  getStreamsTop,
  getStreamsRandom,
  getStreamsOfUser,
  getTopGames,
  getFollowedStreams,
  getStreamKey,
  getStreamMarkers,
  getDropsEntitlementsById,
  getDropsEntitlementsOfUser,
  getDropsEntitlementsPage,
  getUsersById,
  getUsersBy100Ids,
  getChannelFollowersTotal,
  validateToken,
  getImage,
  createStreamMarker,
  updateDropsEntitlements,
]
