/**
 * All writes but the import of `transfer/`. A command runs in one transaction on either engine; on SQLite it runs in the
 * writer thread, so arguments and results are plain data.
 */

export { addEntitlements } from './add-entitlements.ts'
export { pruneAudit } from './audit.ts'
export { deleteBenefit, putBenefit } from './benefits.ts'
export { deleteCampaign, publishCampaign, putCampaign, stopCampaign } from './campaigns.ts'
export { changeChannel, deleteEditor, modifyChannel, putEditor } from './channels.ts'
export { undoClaim } from './claim-deliveries.ts'
export { claimSocketMessages } from './claim-socket-messages.ts'
export { claimWebhooks } from './claim-webhooks.ts'
export { forgetEvents, forgetProgress, forgetVideos, setFact, sweep } from './cleanup.ts'
export { clearEverything } from './clear-everything.ts'
export { changeClient, createClient, deleteClient, setClientSecret } from './clients.ts'
export { disconnect, grantCode, grantToken, useCode } from './codes.ts'
export { decideDevice, startDevice, useDevice } from './devices.ts'
export { settleDismissal } from './disconnect-publisher.ts'
export { claimDrop, claimForViewers } from './drop-claims.ts'
export { grantEntitlements, updateEntitlements } from './entitlements.ts'
export { replayDeliveries, resendDelivery, settleDeliveries } from './event-deliveries.ts'
export { closeLostSockets, closeSockets, moveSockets, openSockets } from './event-sockets.ts'
export { createEventSubscription, deleteEventSubscription } from './event-subscriptions.ts'
export { deleteFollow, putFollows, removeFollowsAround } from './follows.ts'
export { deleteGame, putGame } from './games.ts'
export { restoreIndex } from './indexes.ts'
export { createMarker, deleteMarker, renameMarker } from './markers.ts'
export { deleteMediaServer, putMediaServer, rotateMediaServerSecret } from './media-servers.ts'
export { createOperator, deleteOperator, endOperatorSession } from './operators.ts'
export { deleteMember, deleteOrganization, putMember, putOrganization } from './organizations.ts'
export { createPasswordReset, usePasswordReset } from './password-resets.ts'
export { reportPlayback } from './playback.ts'
export {
  closeOtherSessions,
  closeSession,
  endSilentBroadcasts,
  keepSessionsAlive,
  kickPublisher,
  noteRecorded,
  openSession,
  reportEncoders,
} from './publish-sessions.ts'
export { giveBack, leasePoints, takeFromAll } from './rate-buckets.ts'
export { endUpload, forgetRecordingFile, noteRecordingFile, startUpload } from './recording-files.ts'
export { purgeSubscriptions } from './remove-subscriptions.ts'
export { resealSecrets } from './sealed-secrets.ts'
export { changePassword, endOtherSessions, endSession, keepSession, startSession } from './sessions.ts'
export { recordTime } from './settled-time.ts'
export { addSigningKey, removeSigningKeys } from './signing-keys.ts'
export { dropSnapshot, restoreSnapshot, saveSnapshot } from './snapshot.ts'
export { createStreamKey, deleteStreamKey, rotateStreamKey } from './stream-keys.ts'
export { endStream, reportViewers, reportViewersFromJson, startStream } from './streams.ts'
export { suspendUser, unsuspendUser } from './suspensions.ts'
export { issueTokens, revokeToken, useRefreshToken } from './tokens.ts'
export { takeTurn } from './turns.ts'
export { recordExport } from './user-records.ts'
export { changeProfile, deleteUser, putUser } from './users.ts'
export { changeVideo, deleteVideo, deleteVideos, noteRecording } from './videos.ts'
export { addWatchedMinutes, flushWatchTime } from './watch-time.ts'
