import * as audit from './control/audit.ts'
import * as benefits from './control/benefits.ts'
import * as campaigns from './control/campaigns.ts'
import * as channels from './control/channels.ts'
import * as clients from './control/clients.ts'
import * as demo from './control/demo.ts'
import * as entitlements from './control/entitlements.ts'
import * as events from './control/events.ts'
import * as follows from './control/follows.ts'
import * as games from './control/games.ts'
import * as markers from './control/markers.ts'
import * as mediaServers from './control/media-servers.ts'
import * as operators from './control/operators.ts'
import * as organizations from './control/organizations.ts'
import * as streamKeys from './control/stream-keys.ts'
import * as tokens from './control/tokens.ts'
import * as transfer from './control/transfer.ts'
import * as users from './control/users.ts'
import * as videos from './control/videos.ts'
import * as viewers from './control/viewers.ts'
import { claimDrop } from './drops/claim-drop.ts'
import { getDropsCampaign } from './drops/get-drops-campaign.ts'
import { getDropsCampaigns } from './drops/get-drops-campaigns.ts'
import { getDropsProgress } from './drops/get-drops-progress.ts'
import { createEventSubSubscription } from './helix/create-eventsub-subscription.ts'
import { createStreamMarker } from './helix/create-stream-marker.ts'
import { deleteEventSubSubscription } from './helix/delete-eventsub-subscription.ts'
import { deleteVideos } from './helix/delete-videos.ts'
import { exportStreamMarkers } from './helix/export-stream-markers.ts'
import { getChannelEditors } from './helix/get-channel-editors.ts'
import { getChannelFollowers } from './helix/get-channel-followers.ts'
import { getChannelInformation } from './helix/get-channel-information.ts'
import { getDropsEntitlements } from './helix/get-drops-entitlements.ts'
import { getEventSubSubscriptions } from './helix/get-eventsub-subscriptions.ts'
import { getFollowedChannels } from './helix/get-followed-channels.ts'
import { getFollowedStreams } from './helix/get-followed-streams.ts'
import { getGames } from './helix/get-games.ts'
import { getStreamKey } from './helix/get-stream-key.ts'
import { getStreamMarkers } from './helix/get-stream-markers.ts'
import { getStreams } from './helix/get-streams.ts'
import { getTopGames } from './helix/get-top-games.ts'
import { getUsers } from './helix/get-users.ts'
import { getVideos } from './helix/get-videos.ts'
import { modifyChannelInformation } from './helix/modify-channel-information.ts'
import { searchCategories } from './helix/search-categories.ts'
import { searchChannels } from './helix/search-channels.ts'
import { updateDropsEntitlements } from './helix/update-drops-entitlements.ts'
import { updateUser } from './helix/update-user.ts'
import { createDeviceCode } from './oauth/create-device-code.ts'
import { createOpenidToken } from './oauth/create-openid-token.ts'
import { createToken } from './oauth/create-token.ts'
import { getOpenidConfiguration } from './oauth/get-openid-configuration.ts'
import { getSigningKeys } from './oauth/get-signing-keys.ts'
import { getUserInfo } from './oauth/get-user-info.ts'
import { mintUserToken } from './oauth/mint-user-token.ts'
import { revokeToken } from './oauth/revoke-token.ts'
import { validateToken } from './oauth/validate-token.ts'
import type { Operation } from './operation.ts'
import { createPlaybackSession } from './playback/create-playback-session.ts'
import { getLatestStreams } from './playback/get-latest-streams.ts'
import { sendHeartbeat } from './playback/send-heartbeat.ts'

/** All operations, by family and name. The server answers no others. */
export const helixOperations = {
  getDropsEntitlements,
  updateDropsEntitlements,
  getStreams,
  getFollowedStreams,
  getStreamKey,
  createStreamMarker,
  getStreamMarkers,
  getUsers,
  updateUser,
  getGames,
  searchCategories,
  getVideos,
  deleteVideos,
  getChannelInformation,
  modifyChannelInformation,
  getFollowedChannels,
  getChannelFollowers,
  getChannelEditors,
  getTopGames,
  searchChannels,
  exportStreamMarkers,
  createEventSubSubscription,
  getEventSubSubscriptions,
  deleteEventSubSubscription,
}

export const dropsOperations = { getDropsCampaigns, getDropsCampaign, getDropsProgress, claimDrop }

export const oauthOperations = {
  createToken,
  createDeviceCode,
  validateToken,
  revokeToken,
  mintUserToken,
  getOpenidConfiguration,
  getSigningKeys,
  createOpenidToken,
  getUserInfo,
}

export const playbackOperations = { createPlaybackSession, sendHeartbeat, getLatestStreams }

export const controlOperations = {
  ...users,
  ...organizations,
  ...games,
  ...benefits,
  ...campaigns,
  ...clients,
  ...tokens,
  ...channels,
  ...streamKeys,
  ...follows,
  ...viewers,
  ...entitlements,
  ...videos,
  ...markers,
  ...mediaServers,
  ...events,
  ...operators,
  ...audit,
  exportLines: transfer.exportLines,
  importLines: transfer.importLines,
  ...demo,
}

export const operations: readonly Operation[] = [
  ...Object.values(helixOperations),
  ...Object.values(dropsOperations),
  ...Object.values(oauthOperations),
  ...Object.values(playbackOperations),
  ...Object.values(controlOperations),
]
