import type { TransferLine } from '../contract/resources/transfer.ts'
import type { Author } from '../domain/audit.ts'
import { moveDecimalIds } from '../kit/id.ts'
import type { Metrics } from '../kit/telemetry/metrics.ts'
import { type CommandArgs, type CommandName, type CommandResult, commands } from './command-list.ts'
import type { Database } from './database.ts'
import type { Engine } from './engine.ts'
import { Conflict } from './errors.ts'
import type { FeedEntry } from './feed.ts'
import { accountQueries } from './queries/accounts.ts'
import { auditQueries } from './queries/audit.ts'
import { benefitQueries } from './queries/benefits.ts'
import { campaignQueries } from './queries/campaigns.ts'
import { channelSearchQueries } from './queries/channel-search.ts'
import { channelQueries } from './queries/channels.ts'
import { clientQueries } from './queries/clients.ts'
import { dropProgressQueries } from './queries/drop-progress.ts'
import { entitlementQueries } from './queries/entitlements.ts'
import { eventDeliveryQueries } from './queries/event-deliveries.ts'
import { eventSocketQueries } from './queries/event-sockets.ts'
import { eventSubscriptionQueries } from './queries/event-subscriptions.ts'
import { factQueries, feedQueries } from './queries/feed.ts'
import { followQueries } from './queries/follows.ts'
import { gameQueries } from './queries/games.ts'
import { mediaServerQueries } from './queries/media-servers.ts'
import { operatorQueries } from './queries/operators.ts'
import { organizationQueries } from './queries/organizations.ts'
import { recordingFileQueries } from './queries/recording-files.ts'
import { sealedSecretQueries } from './queries/sealed-secrets.ts'
import { signingKeyQueries } from './queries/signing-keys.ts'
import { sizeQueries } from './queries/sizes.ts'
import { streamKeyQueries } from './queries/stream-keys.ts'
import { streamQueries } from './queries/streams.ts'
import { tokenQueries } from './queries/tokens.ts'
import { userQueries } from './queries/users.ts'
import { markerQueries, videoQueries } from './queries/videos.ts'
import { Timings } from './timings.ts'
import { checkLines } from './transfer/import-lines.ts'
import type { EarlierLines } from './transfer/line-type.ts'
import { hasFewerEntitlements } from './transfer/staging.ts'
import { user } from './transfer/users.ts'

type CommandPort = { [N in CommandName]: (args: CommandArgs<N>) => Promise<CommandResult<N>> }

/** The interface of the store for all other modules: queries by subject, commands by name, and change notifications. */
export interface Store extends ReturnType<typeof createCommandPort> {
  /** The same store for an author: changes made by its commands are recorded in the audit log. */
  as(author: Author): Store
}

export function createStore(engine: Engine): Store {
  const timings = new Timings()
  let announcementListeners: readonly (() => void)[] = []
  let followers: readonly ((entries: readonly FeedEntry[]) => Promise<void>)[] = []

  const run = async (name: CommandName, args: unknown, author?: Author) => {
    const outcome = timings.run(name, () => engine.run(name, args, author))
    const { result, entries, announced } = await outcome.catch(noteConflict)
    if (announced) for (const listener of announcementListeners) listener()
    if (entries.length > 0) for (const follow of followers) await follow(entries)
    return result
  }
  const portTo = (method: (name: CommandName) => unknown) => {
    const names = Object.keys(commands) as CommandName[]
    return Object.fromEntries(names.map(name => [name, method(name)])) as CommandPort
  }
  // Every change by an author gets a port, so its hundred methods are made once.
  const authored = portTo(
    name =>
      function (this: { readonly author: Author }, args: unknown) {
        return run(name, args, this.author)
      },
  )
  const store: Store = {
    ...createCommandPort(
      engine,
      timings,
      portTo(name => (args: unknown) => run(name, args)),
      follower => {
        followers = [...followers, follower]
      },
      listener => {
        announcementListeners = [...announcementListeners, listener]
      },
    ),
    as: author => ({ ...store, commands: Object.assign(Object.create(authored), { author }) }),
  }
  return store
}

/** Draws new ids after a conflict: another process may have drawn the same id. */
function noteConflict(error: unknown): never {
  if (error instanceof Conflict) moveDecimalIds()
  throw error
}

function createCommandPort(
  engine: Engine,
  timings: Timings,
  port: CommandPort,
  follow: (follower: (entries: readonly FeedEntry[]) => Promise<void>) => void,
  listen: (listener: () => void) => void,
) {
  const readsAtOnce = engine.name === 'sqlite'
  const db = timings.timed(engine.db, { readsAtOnce })
  const reserved = timings.timed(engine.reserved, { readsAtOnce })
  return {
    engine: engine.name,
    schema: engine.schema,
    commands: port,
    games: gameQueries(db),
    channels: channelQueries(db),
    entitlements: entitlementQueries(db),
    videos: videoQueries(db),
    recordingFiles: recordingFileQueries(db),
    markers: markerQueries(db),
    users: userQueries(db),
    accounts: accountQueries(db),
    organizations: organizationQueries(db),
    benefits: benefitQueries(db),
    campaigns: campaignQueries(db),
    dropProgress: dropProgressQueries(db),
    clients: clientQueries(db),
    channelSearch: channelSearchQueries(db),
    signingKeys: signingKeyQueries(db),
    streams: streamQueries(db),
    streamKeys: streamKeyQueries(db),
    follows: followQueries(db),
    tokens: tokenQueries(db),
    operators: operatorQueries(db),
    mediaServers: mediaServerQueries(db),
    eventSubscriptions: eventSubscriptionQueries(db),
    eventDeliveries: eventDeliveryQueries(db, reserved),
    eventSockets: eventSocketQueries(db),
    sealedSecrets: sealedSecretQueries(db),
    audit: auditQueries(db),
    transfer: {
      check: (
        lines: readonly TransferLine[],
        earlier: EarlierLines,
        options: { stagesEntitlements: boolean },
      ) => checkLines(db, lines, earlier, options),
      hasFewerEntitlements: (than: number) => hasFewerEntitlements(db, than),
      users: (lines: readonly TransferLine<'user'>[]) => user.find(db, lines),
    },
    feed: feedQueries(reserved),
    facts: factQueries(db),
    sizes: sizeQueries(db, engine.name),

    /** Runs reads in one consistent snapshot; see `Engine`. */
    snapshot: <T>(read: (db: Database) => Promise<T>) => engine.snapshot(read),

    /** Why writes currently fail; see `Engine`. */
    unavailableReason: () => engine.unavailableReason(),

    /** Registers a listener for the feed entries of each command, called before the command returns. */
    onChange: follow,

    /** Registers a listener for commands of this process that left messages to deliver. */
    onAnnouncement: listen,
    measure(metrics: Metrics): void {
      timings.measure(metrics)
      engine.measure(metrics)
    },
    close: () => engine.close(),
  }
}
