/** Thumbnails of broadcasts, which take the place of drawn pictures (D-123). */
import type { ImageName } from '../../images/image-name.ts'
import type { Jpeg } from '../../media/ffmpeg.ts'
import type { Recordings } from '../../media/recording/recordings.ts'
import type { Thumbnails } from '../../media/thumbnails.ts'
import type { Services } from '../../operations/implement.ts'
import { Unavailable } from '../../store/errors.ts'
import type { RequestContext } from '../request-context.ts'
import { hasSameTag } from './etag.ts'
import { isFileUrl, redirectTo } from './media-redirect.ts'

/** Thumbnails of live channels change every 30 s; those of videos while they are recorded. */
const MAX_AGE_SECONDS = { channels: 30, videos: 300 } as const

/** A picture that a thumbnail can take the place of. */
interface ThumbnailName extends ImageName {
  readonly kind: keyof typeof MAX_AGE_SECONDS
}

interface Sources {
  readonly thumbnails: Thumbnails
  readonly recordings: Recordings | undefined
  readonly services: Pick<Services, 'store' | 'directory' | 'mediaUrl'>
}

/** A drawing stays a drawing if it is asked for as SVG. */
export function mayHaveThumbnail(name: ImageName): name is ThumbnailName {
  return name.kind in MAX_AGE_SECONDS && name.format === 'png'
}

/** For drawn pictures, too: a thumbnail may take their place soon. */
export function cacheControl({ kind }: ThumbnailName): string {
  return `public, max-age=${MAX_AGE_SECONDS[kind]}`
}

/** The thumbnail, or where another node has it. Undefined: there is none, and the drawn picture is served. */
export async function answerThumbnail(
  name: ThumbnailName,
  sources: Sources,
  context: RequestContext,
): Promise<Response | undefined> {
  const found = await (name.kind === 'channels' ? ofChannel(name, sources) : ofVideo(name, sources)).catch(
    error => {
      if (error instanceof Unavailable) return undefined
      throw error
    },
  )
  if (found === undefined) return undefined
  const headers = {
    'Cache-Control': cacheControl(name),
    Vary: 'Sec-Fetch-Site',
    'Access-Control-Allow-Origin': '*',
    'Cross-Origin-Resource-Policy': 'cross-origin',
    'X-Content-Type-Options': 'nosniff',
    'X-Request-Id': context.requestId,
  }
  // The policy of our pages allows no other host: they show the drawn picture instead (D-152).
  if ('elsewhere' in found && context.headers.get('sec-fetch-site') === 'same-origin') return undefined
  if ('elsewhere' in found)
    return redirectTo(found.elsewhere, context.path, sources.services, context, headers)
  const etag = `"${Bun.hash(found.jpeg).toString(36)}"`
  const tagged = { ...headers, ETag: etag }
  if (hasSameTag(context.headers, etag)) return new Response(null, { status: 304, headers: tagged })
  return new Response(found.jpeg, { headers: { ...tagged, 'Content-Type': 'image/jpeg' } })
}

type Found = { readonly jpeg: Jpeg } | { readonly elsewhere: string }

/** A channel that is live on another node has its thumbnail there. */
async function ofChannel(
  name: ThumbnailName,
  { thumbnails, services: { directory, store } }: Sources,
): Promise<Found | undefined> {
  const jpeg = thumbnails.find(name.id, name)
  if (jpeg !== undefined) return { jpeg }
  if (!directory.isComplete) await directory.complete()
  const stream = thumbnails.has(name.id) ? undefined : directory.findStream(name.id)
  const elsewhere = stream && (await store.streams.watchUrlOf(stream.user_login))
  return elsewhere ? { elsewhere } : undefined
}

/** Next to the recording, unless another media server has that. The store decides whether the video still exists. */
async function ofVideo(
  { id }: ThumbnailName,
  { recordings, services: { store } }: Sources,
): Promise<Found | undefined> {
  const elsewhere = await store.videos.recordingUrl(id)
  if (elsewhere === undefined || isFileUrl(elsewhere)) return undefined
  if (recordings !== undefined) {
    const jpeg = await recordings.readThumbnail(id)
    if (jpeg !== undefined) return { jpeg }
    if (await Bun.file(recordings.filePath(id)).exists()) return undefined
  }
  return { elsewhere }
}
