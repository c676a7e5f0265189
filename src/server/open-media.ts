import { join } from 'node:path'
import type { Config } from '../config/config.ts'
import type { CallbackHandler } from '../http/responses/ingest-response.ts'
import { type EmbeddedMedia, openEmbeddedMedia } from '../ingest/open-embedded.ts'
import { openIngest } from '../ingest/open-ingest.ts'
import { RecordingUploads } from '../ingest/recording-uploads.ts'
import type { Lifetime } from '../kit/lifetime.ts'
import type { Log } from '../kit/telemetry/log.ts'
import { repeaterOf } from '../kit/telemetry/log-outages.ts'
import type { Measured } from '../kit/telemetry/metrics.ts'
import { Bucket, toBucketOptions } from '../media/bucket.ts'
import { LiveChannels } from '../media/live-channels.ts'
import { Recordings } from '../media/recording/recordings.ts'
import { Thumbnails } from '../media/thumbnails.ts'
import type { Services } from '../operations/implement.ts'
import type { Role } from './app-options.ts'
import { isStoreShared } from './services.ts'

const UPLOAD_MILLISECONDS = 5000
const ORPHAN_MILLISECONDS = 60_000

/** Video of this process: what it receives, keeps and shows, and what media servers report to it. */
export interface Media {
  readonly liveChannels: LiveChannels
  readonly recordings: Recordings | undefined
  /** Undefined: there is no object storage. */
  readonly bucket: Bucket | undefined
  /** Undefined: all pictures are drawn. */
  readonly thumbnails: Thumbnails | undefined
  /** Undefined: encoders publish elsewhere. */
  readonly embedded: EmbeddedMedia | undefined
  readonly callbacks: CallbackHandler<unknown>
  readonly measured: readonly Measured[]
}

export async function openMedia(
  { config, services, role }: { config: Config; services: Services; role: Role },
  lifetime: Lifetime,
): Promise<Media> {
  const isServer = role === 'server'
  const {
    dataFolder,
    recordMebibytes,
    recordingsGibibytes,
    mediaMemoryMebibytes,
    rtmpListen,
    trustedProxies,
    reconnectGraceSeconds,
  } = config
  const liveChannels = new LiveChannels({ memoryMebibytes: mediaMemoryMebibytes })
  const watchUrl = (isStoreShared(services.store) && services.mediaUrl) || null
  const bucketOptions = toBucketOptions(config.objectStorage)
  const bucket = bucketOptions && new Bucket(bucketOptions)
  const recordings = config.record
    ? new Recordings({
        folder: join(dataFolder, 'recordings'),
        maxBytes: recordMebibytes * 1024 ** 2,
        space: { maxBytes: recordingsGibibytes && recordingsGibibytes * 1024 ** 3 },
      })
    : undefined
  const thumbnails =
    isServer && config.thumbnails ? openThumbnails(config, services.log, lifetime) : undefined
  const embedded =
    isServer && rtmpListen !== undefined
      ? await openEmbeddedMedia(
          {
            listen: rtmpListen,
            orAnyPort: services.demo !== undefined,
            services,
            channels: liveChannels,
            recordings,
            thumbnails,
            isProxy: address => trustedProxies.has(address),
          },
          lifetime,
        )
      : undefined
  const callbacks = openIngest(
    services,
    { reconciles: isServer, graceSeconds: reconnectGraceSeconds },
    lifetime,
  )
  const measured: Measured[] = thumbnails === undefined ? [liveChannels] : [liveChannels, thumbnails]
  if (isServer && services.demo === undefined)
    measured.push(...openUploads({ ...services, recordings, bucket, watchUrl }, lifetime))
  return { liveChannels, recordings, bucket, thumbnails, embedded, callbacks, measured }
}

function openUploads(
  options: ConstructorParameters<typeof RecordingUploads>[0],
  lifetime: Lifetime,
): readonly Measured[] {
  const uploads = new RecordingUploads(options)
  lifetime.onClose(() => uploads.stop())
  const every = repeaterOf(lifetime, options.log)
  every(ORPHAN_MILLISECONDS, () => uploads.removeOrphans(), 'deleting objects of deleted videos failed')
  if (options.bucket === undefined) return []
  every(UPLOAD_MILLISECONDS, () => uploads.look(), 'looking for recordings to upload failed')
  return [uploads]
}

/** Without ffmpeg, and on nodes without a media server, it serves the thumbnails of other nodes. */
function openThumbnails({ rtmpListen }: Config, log: Log, lifetime: Lifetime): Thumbnails {
  const ffmpeg = rtmpListen === undefined ? undefined : (Bun.which('ffmpeg') ?? undefined)
  if (rtmpListen !== undefined && ffmpeg === undefined)
    log.info('ffmpeg is not on the PATH: live channels show drawn pictures instead of thumbnails')
  const thumbnails = new Thumbnails({ ffmpeg, log })
  lifetime.onClose(() => thumbnails.close())
  return thumbnails
}
