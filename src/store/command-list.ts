import { isRefusal } from '../contract/problem.ts'
import { forgetAudit } from './commands/audit.ts'
import { deleteBenefit, putBenefit } from './commands/benefits.ts'
import { addCampaign } from './commands/campaigns.ts'
import { changeChannel, deleteEditor, modifyChannel, putEditor } from './commands/channels.ts'
import { claimDeliveries } from './commands/claim-deliveries.ts'
import { clearEverything } from './commands/clear-everything.ts'
import { changeClient, createClient, deleteClient, setClientSecret } from './commands/clients.ts'
import { disconnect, grantCode, grantToken, useCode } from './commands/codes.ts'
import { decideDevice, startDevice, useDevice } from './commands/devices.ts'
import { settleDismissal } from './commands/dismissals.ts'
import { grantEntitlements, updateEntitlements } from './commands/entitlements.ts'
import { replayDeliveries, resendDelivery, settleDeliveries } from './commands/event-deliveries.ts'
import { resealEventSecrets } from './commands/event-secrets.ts'
import { closeLostSockets, closeSockets, moveSockets, openSockets } from './commands/event-sockets.ts'
import { createEventSubscription, deleteEventSubscription } from './commands/event-subscriptions.ts'
import { foldNames } from './commands/fold-names.ts'
import { deleteFollow, putFollows } from './commands/follows.ts'
import { deleteGame, putGame } from './commands/games.ts'
import { restoreIndex, setAsideIndexes } from './commands/indexes.ts'
import { createMarker, deleteMarker, renameMarker } from './commands/markers.ts'
import { deleteMediaServer, putMediaServer, rotateMediaServerSecret } from './commands/media-servers.ts'
import { createOperator, deleteOperator, endOperatorSession } from './commands/operators.ts'
import { deleteMember, deleteOrganization, putMember, putOrganization } from './commands/organizations.ts'
import { createPartitions, dropAuditPartition, dropEventPartition } from './commands/partitions.ts'
import { reportPlayback } from './commands/playback.ts'
import {
  closeOtherSessions,
  closeSession,
  endSilentBroadcasts,
  keepSessionsAlive,
  kickPublisher,
  noteRecorded,
  openSession,
  reportEncoders,
} from './commands/publish-sessions.ts'
import { changePassword, endSession, keepSession, startSession } from './commands/sessions.ts'
import { noteTime } from './commands/settled-time.ts'
import { giveBack, leasePoints, takeFromAll, takeTurn } from './commands/shared.ts'
import { addSigningKey, removeSigningKeys, resealSigningKey } from './commands/signing-keys.ts'
import { dropSnapshot, restoreSnapshot, saveSnapshot } from './commands/snapshot.ts'
import {
  createStreamKey,
  deleteStreamKey,
  resealStreamKeys,
  rotateStreamKey,
} from './commands/stream-keys.ts'
import { endStream, reportViewers, startStream, takeViewerReport } from './commands/streams.ts'
import { issueTokens, revokeToken, useRefreshToken } from './commands/tokens.ts'
import { forgetEvents, forgetVideos, noteFact, sweep } from './commands/upkeep.ts'
import { deleteUser, describeUser, putUser } from './commands/users.ts'
import { changeVideo, deleteVideo, deleteVideos, noteRecording } from './commands/videos.ts'
import type { Transaction } from './database.ts'
import { importLines } from './transfer/import-lines.ts'

/**
 * All writes. A command runs in one transaction on either engine; on SQLite it runs in the writer thread, so arguments and
 * results are plain data.
 */
const single = {
  putUser,
  describeUser,
  deleteUser,
  putOrganization,
  deleteOrganization,
  putMember,
  deleteMember,
  putGame,
  deleteGame,
  putBenefit,
  deleteBenefit,
  createClient,
  changeClient,
  setClientSecret,
  deleteClient,
  issueTokens,
  useRefreshToken,
  revokeToken,
  grantCode,
  grantToken,
  useCode,
  disconnect,
  startDevice,
  decideDevice,
  useDevice,
  startSession,
  keepSession,
  endSession,
  changePassword,
  changeChannel,
  modifyChannel,
  putEditor,
  deleteEditor,
  createStreamKey,
  deleteStreamKey,
  rotateStreamKey,
  resealStreamKeys,
  addSigningKey,
  resealSigningKey,
  removeSigningKeys,
  putFollows,
  deleteFollow,
  openSession,
  closeSession,
  closeOtherSessions,
  keepSessionsAlive,
  reportEncoders,
  endSilentBroadcasts,
  kickPublisher,
  settleDismissal,
  startStream,
  endStream,
  reportViewers,
  reportPlayback,
  takeViewerReport,
  grantEntitlements,
  updateEntitlements,
  createMarker,
  renameMarker,
  deleteMarker,
  createEventSubscription,
  deleteEventSubscription,
  claimDeliveries,
  settleDeliveries,
  resendDelivery,
  replayDeliveries,
  openSockets,
  moveSockets,
  closeSockets,
  closeLostSockets,
  resealEventSecrets,
  changeVideo,
  deleteVideo,
  deleteVideos,
  noteRecorded,
  noteRecording,
  createOperator,
  deleteOperator,
  endOperatorSession,
  putMediaServer,
  rotateMediaServerSecret,
  deleteMediaServer,
  importLines,
  setAsideIndexes,
  restoreIndex,
  leasePoints,
  takeFromAll,
  giveBack,
  takeTurn,
  noteFact,
  noteTime,
  forgetAudit,
  sweep,
  forgetVideos,
  forgetEvents,
  createPartitions,
  dropAuditPartition,
  dropEventPartition,
  foldNames,
  clearEverything,
  addCampaign,
  saveSnapshot,
  restoreSnapshot,
  dropSnapshot,
}

type Single = typeof single

/** A command with its arguments, as a value. */
export type Step = { [N in keyof Single]: readonly [name: N, args: Parameters<Single[N]>[1]] }[keyof Single]

/** Runs several commands in one transaction: a demo's data is created completely or not at all. */
async function runSteps(tx: Transaction, args: { steps: readonly Step[] }): Promise<void> {
  for (const [name, stepArgs] of args.steps) {
    const command = single[name] as (tx: Transaction, args: unknown) => Promise<unknown>
    const result = await command(tx, stepArgs)
    if (isRefusal(result)) throw new Error(`${name} was refused: ${JSON.stringify(result)}`)
  }
}

export const commands = { ...single, runSteps }

type Commands = typeof commands
export type CommandName = keyof Commands
export type CommandArgs<N extends CommandName> = Parameters<Commands[N]>[1]
export type CommandResult<N extends CommandName> = Awaited<ReturnType<Commands[N]>>

/**
 * Commands that may share a transaction with others, by the channel that each is about. They touch only what belongs to it,
 * so those of different channels are independent, whatever the order of their statements.
 */
const GROUPED: { readonly [N in CommandName]?: (args: CommandArgs<N>) => string } = {
  startStream: args => args.user_id,
  endStream: args => args.user_id,
}

/** The channel of a command that may share a transaction; undefined for other commands. */
export function channelOf({
  name,
  args,
}: {
  readonly name: CommandName
  readonly args: unknown
}): string | undefined {
  return GROUPED[name]?.(args as never)
}
