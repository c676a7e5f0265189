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
import { handleClaimDrop } from './drops/claim-drop.ts'
import { handleGetDropsCampaign } from './drops/get-drops-campaign.ts'
import { handleGetDropsCampaigns } from './drops/get-drops-campaigns.ts'
import { handleGetDropsProgress } from './drops/get-drops-progress.ts'
import { handleCreateEventSubSubscription } from './helix/create-eventsub-subscription.ts'
import { handleCreateStreamMarker } from './helix/create-stream-marker.ts'
import { handleDeleteEventSubSubscription } from './helix/delete-eventsub-subscription.ts'
import { handleDeleteVideos } from './helix/delete-videos.ts'
import { handleExportStreamMarkers } from './helix/export-stream-markers.ts'
import { handleGetChannelEditors } from './helix/get-channel-editors.ts'
import { handleGetChannelFollowers } from './helix/get-channel-followers.ts'
import { handleGetChannelInformation } from './helix/get-channel-information.ts'
import { handleGetDropsEntitlements } from './helix/get-drops-entitlements.ts'
import { handleGetEventSubSubscriptions } from './helix/get-eventsub-subscriptions.ts'
import { handleGetFollowedChannels } from './helix/get-followed-channels.ts'
import { handleGetFollowedStreams } from './helix/get-followed-streams.ts'
import { handleGetGames } from './helix/get-games.ts'
import { handleGetStreamKey } from './helix/get-stream-key.ts'
import { handleGetStreamMarkers } from './helix/get-stream-markers.ts'
import { handleGetStreams } from './helix/get-streams.ts'
import { handleGetTopGames } from './helix/get-top-games.ts'
import { handleGetUsers } from './helix/get-users.ts'
import { handleGetVideos } from './helix/get-videos.ts'
import { handleModifyChannelInformation } from './helix/modify-channel-information.ts'
import { handleSearchCategories } from './helix/search-categories.ts'
import { handleSearchChannels } from './helix/search-channels.ts'
import { handleUpdateDropsEntitlements } from './helix/update-drops-entitlements.ts'
import { handleUpdateUser } from './helix/update-user.ts'
import type { Implementation } from './implement.ts'
import { handleCreateDeviceCode } from './oauth/create-device-code.ts'
import { handleCreateOpenidToken } from './oauth/create-openid-token.ts'
import { handleCreateToken } from './oauth/create-token.ts'
import { handleGetOpenidConfiguration } from './oauth/get-openid-configuration.ts'
import { handleGetSigningKeys } from './oauth/get-signing-keys.ts'
import { handleGetUserInfo } from './oauth/get-user-info.ts'
import { handleMintUserToken } from './oauth/mint-user-token.ts'
import { handleRevokeToken } from './oauth/revoke-token.ts'
import { handleValidateToken } from './oauth/validate-token.ts'
import { handleCreatePlaybackSession } from './playback/create-playback-session.ts'
import { handleGetLatestStreams } from './playback/get-latest-streams.ts'
import { handleSendHeartbeat } from './playback/send-heartbeat.ts'

/** One implementation for every operation of the contract. The server does not start if one is missing. */
export const implementations: readonly Implementation[] = [
  handleGetDropsEntitlements,
  handleUpdateDropsEntitlements,
  handleGetStreams,
  handleGetFollowedStreams,
  handleGetStreamKey,
  handleCreateStreamMarker,
  handleGetStreamMarkers,
  handleGetUsers,
  handleUpdateUser,
  handleCreateEventSubSubscription,
  handleGetEventSubSubscriptions,
  handleDeleteEventSubSubscription,
  handleGetGames,
  handleSearchCategories,
  handleGetVideos,
  handleDeleteVideos,
  handleGetChannelInformation,
  handleModifyChannelInformation,
  handleGetFollowedChannels,
  handleGetChannelFollowers,
  handleGetChannelEditors,
  handleGetTopGames,
  handleSearchChannels,
  handleExportStreamMarkers,

  handleGetDropsCampaigns,
  handleGetDropsCampaign,
  handleGetDropsProgress,
  handleClaimDrop,

  handleCreateToken,
  handleCreateDeviceCode,
  handleValidateToken,
  handleRevokeToken,
  handleMintUserToken,
  handleGetOpenidConfiguration,
  handleGetSigningKeys,
  handleCreateOpenidToken,
  handleGetUserInfo,

  handleCreatePlaybackSession,
  handleSendHeartbeat,
  handleGetLatestStreams,

  ...Object.values(users),
  ...Object.values(organizations),
  ...Object.values(games),
  ...Object.values(benefits),
  ...Object.values(campaigns),
  ...Object.values(clients),
  ...Object.values(tokens),
  ...Object.values(channels),
  ...Object.values(streamKeys),
  ...Object.values(follows),
  ...Object.values(viewers),
  ...Object.values(entitlements),
  ...Object.values(videos),
  ...Object.values(markers),
  ...Object.values(mediaServers),
  ...Object.values(events),
  ...Object.values(operators),
  ...Object.values(audit),
  ...Object.values(transfer),
  ...Object.values(demo),
]
