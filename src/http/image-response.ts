import type { ImageName } from '../images/image-name.ts'
import type { Images } from '../images/images.ts'
import { cachingHeadersOf, etagOf, type Image } from '../images/render.ts'
import { hasSameTag } from './etag.ts'
import type { RequestContext } from './request-context.ts'

type ImageRequest = Pick<RequestContext, 'path' | 'headers' | 'requestId' | 'address'>

/** The answer from the cache; undefined if there is none, or if the caller asks whether the picture has changed. */
export function answerFromCache(
  images: Images,
  { path, headers, requestId }: ImageRequest,
): Response | undefined {
  const image = images.cached(path)
  return image === undefined || headers.has('if-none-match') ? undefined : respond(image, requestId)
}

/** A caller that has the picture gets a 304, without a rendering. */
export async function answerImage(
  images: Images,
  name: ImageName,
  { headers, requestId, address }: ImageRequest,
): Promise<Response> {
  if (!hasSameTag(headers, etagOf(name))) return respond(await images.get(name, address), requestId)
  const unchanged = cachingHeadersOf(name)
  unchanged.set('X-Request-Id', requestId)
  return new Response(null, { status: 304, headers: unchanged })
}

/** The response copies the headers, so that those of the image can be filled in for the next one. */
function respond({ file, headers }: Image, requestId: string): Response {
  headers.set('X-Request-Id', requestId)
  return new Response(file, { headers })
}
