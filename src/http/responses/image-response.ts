import { isRefusal, type Refusal } from '../../contract/problem.ts'
import { type ImageName, readImagePath } from '../../images/image-name.ts'
import type { Images } from '../../images/images.ts'
import { cachingHeaders, computeEtag, type Image } from '../../images/render.ts'
import type { Recordings } from '../../media/recording/recordings.ts'
import type { Thumbnails } from '../../media/thumbnails.ts'
import type { Services } from '../../operations/implement.ts'
import { asksToSee } from '../../site/pages.ts'
import type { RequestContext } from '../request-context.ts'
import { hasSameTag } from './etag.ts'
import { answerThumbnail, cacheControl, mayHaveThumbnail } from './thumbnail-response.ts'

export interface PictureSources {
  readonly images: Images
  /** Undefined: all pictures are drawn. */
  readonly thumbnails: Thumbnails | undefined
  readonly recordings: Recordings | undefined
  readonly services: Services
}

/** Without a token and without a point (D-95). Undefined: there is no picture at this path. */
export function answerPicture(
  sources: PictureSources,
  context: RequestContext,
): Response | Promise<Response> | Refusal | undefined {
  if (!asksToSee(context.method)) return undefined
  const { images, thumbnails } = sources
  const cached = thumbnails === undefined ? answerFromCache(images, context) : undefined
  if (cached !== undefined) return cached
  const name = readImagePath(context.path)
  if (name === undefined || isRefusal(name)) return name
  return thumbnails === undefined
    ? answerDrawn(sources, name, context)
    : answerWithThumbnail(name, { ...sources, thumbnails }, context)
}

/** The thumbnail of a broadcast, or the drawn picture. */
async function answerWithThumbnail(
  name: ImageName,
  sources: PictureSources & { readonly thumbnails: Thumbnails },
  context: RequestContext,
): Promise<Response> {
  if (!mayHaveThumbnail(name)) return answerDrawn(sources, name, context)
  const thumbnail = await answerThumbnail(name, sources, context)
  if (thumbnail !== undefined) return thumbnail
  const drawn = await answerDrawn(sources, name, context)
  drawn.headers.set('Cache-Control', cacheControl(name))
  drawn.headers.set('Vary', 'Sec-Fetch-Site')
  return drawn
}

/** In a demo, channels and videos show a moment of what they play. */
async function answerDrawn(
  { images, services: { demo } }: PictureSources,
  name: ImageName,
  context: RequestContext,
): Promise<Response> {
  const { kind, id } = name
  const isPlayed = kind === 'channels' || kind === 'videos'
  const scene = isPlayed ? await demo?.video?.scene(kind, id) : undefined
  return answerImage(images, scene === undefined ? name : { ...name, kind: 'scenes', id: scene }, context)
}

type ImageRequest = Pick<RequestContext, 'path' | 'headers' | 'requestId' | 'address'>

/** The answer from the cache; undefined if there is none, or if the caller asks whether the picture has changed. */
function answerFromCache(images: Images, { path, headers, requestId }: ImageRequest): Response | undefined {
  const image = images.cached(path)
  return image === undefined || headers.has('if-none-match') ? undefined : respond(image, requestId)
}

/** A caller that has the picture gets a 304, without a rendering. */
async function answerImage(
  images: Images,
  name: ImageName,
  { headers, requestId, address }: ImageRequest,
): Promise<Response> {
  if (!hasSameTag(headers, computeEtag(name))) return respond(await images.get(name, address), requestId)
  const unchanged = cachingHeaders(name)
  unchanged.set('X-Request-Id', requestId)
  return new Response(null, { status: 304, headers: unchanged })
}

/** The headers belong to the image and are used for every response: a response copies them when it is made. */
function respond({ file, headers }: Image, requestId: string): Response {
  headers.set('X-Request-Id', requestId)
  return new Response(file, { headers })
}
