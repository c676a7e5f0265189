import {
  type AttemptLimits,
  type Attempts,
  LocalAttempts,
  SECRET_LIMITS,
  SharedAttempts,
} from '../auth/attempts.ts'
import { Callers } from '../auth/callers.ts'
import { EventSecrets } from '../auth/event-secrets.ts'
import { OAuthLimits } from '../auth/oauth-limits.ts'
import { PlaybackSessions } from '../auth/playback-sessions.ts'
import { SigningKeys } from '../auth/signing-keys.ts'
import { SiteTokens } from '../auth/site-tokens.ts'
import { StreamKeys } from '../auth/stream-keys.ts'
import type { Config } from '../config/config.ts'
import type { DataFolder } from '../config/data-folder.ts'
import { Directory } from '../directory/directory.ts'
import { Followings } from '../directory/followings.ts'
import { Heartbeats } from '../directory/heartbeats.ts'
import { History } from '../directory/history.ts'
import { StreamFeedSubscriber } from '../directory/stream-feed-subscriber.ts'
import { OpenCampaigns } from '../directory/watch-time/open-campaigns.ts'
import { WatchTime } from '../directory/watch-time/watch-time.ts'
import type { Log } from '../kit/telemetry/log.ts'
import { systemClock } from '../kit/time/clock.ts'
import { CampaignReports } from '../operations/campaign-reports.ts'
import { DemoControls } from '../operations/demo/demo-controls.ts'
import type { Services } from '../operations/implement.ts'
import { FeedFollower } from '../store/follower.ts'
import type { Store } from '../store/store.ts'
import { createRecordingSizes } from './recording-sizes.ts'

interface ServiceOptions {
  readonly config: Config
  readonly log: Log
  readonly demo?: boolean | DemoControls
  readonly publicUrl: string
}

/** The services, and the follower that keeps their in-memory state in step with the store. */
export interface CreatedServices {
  readonly services: Services
  readonly follower: FeedFollower
  readonly siteTokens: SiteTokens
}

export function createServices(options: ServiceOptions, store: Store, { ring }: DataFolder): CreatedServices {
  const { config, log, publicUrl } = options
  const demo = options.demo === true ? new DemoControls() : options.demo || undefined
  const directory = new Directory({
    publicUrl,
    ...(isStoreShared(store) && { inTouchAt: () => follower.inTouchAt }),
    details: {
      detailsOf: user_ids => store.streams.detailsOf(user_ids),
      gamesOf: ids => store.games.withIds(ids),
      catchUp: () => follower.catchUp(),
    },
  })
  const followings = new Followings(store, directory)
  const siteTokens = new SiteTokens(ring)
  const callers = new Callers(store, siteTokens)
  const clock = demo?.clock ?? systemClock
  const campaigns = new OpenCampaigns(store, clock)
  const streams = new StreamFeedSubscriber(store, directory, { ranksFirst: true })
  const subscribers = [streams, followings, callers, campaigns]
  const follower: FeedFollower = new FeedFollower(store, subscribers, log)
  const services: Services = {
    store,
    directory,
    followings,
    callers,
    history: new History(store, directory, follower),
    clock,
    streamKeys: new StreamKeys(ring),
    signingKeys: new SigningKeys(store, ring, clock),
    playbackSessions: new PlaybackSessions(ring),
    heartbeats: new Heartbeats({ store, clock }),
    campaigns,
    watchTime: new WatchTime({
      store,
      clock,
      campaigns,
      findGame: channel_id => directory.findGame(channel_id),
      mostPerNetwork: config.earningPerNetwork,
      hasOwnClock: demo !== undefined,
    }),
    // A demo's clock may be moved by hours between two reports.
    campaignReports: new CampaignReports(store, demo && 0),
    eventSecrets: new EventSecrets(ring),
    eventCallbacks: demo === undefined ? config.eventCallbacks : 'any',
    limits: new OAuthLimits(config.oauthRates),
    attempts: attemptsOn(store, SECRET_LIMITS),
    lifetimes: config.lifetimes,
    publicUrl,
    mediaUrl: config.mediaUrl,
    strict: config.strict,
    spoolFolder: config.spoolFolder,
    recordingSizes: createRecordingSizes(config),
    log,
    ...(demo && { demo }),
  }
  demo?.viewers.useWatchTime(services.watchTime)
  return { services, follower, siteTokens }
}

/** Whether other processes may use the same store; limits are shared with them then. */
export function isStoreShared(store: Store): boolean {
  return store.engine === 'postgres'
}

export function attemptsOn(store: Store, limits: AttemptLimits): Attempts {
  return isStoreShared(store) ? new SharedAttempts(limits, store) : new LocalAttempts(limits)
}
