import { draw } from './draw.ts'
import { type ImageName, imagePath } from './image-name.ts'
import { encodePng } from './png.ts'
import { rasterize } from './raster.ts'
import { encodeSvg } from './svg.ts'

/** Must change when pictures change, because caches compare it: a test holds some pictures against it. */
export const DRAWING_VERSION = 1

const MEDIA_TYPES = { png: 'image/png', svg: 'image/svg+xml' } as const

/** A picture as a file, with the headers that it is served with. */
export interface Image {
  readonly file: Blob
  readonly headers: Headers
}

/** Made of the name alone, so that it is known before the picture is rendered. */
export function computeEtag(name: ImageName): string {
  return `"${imagePath(name)}-v${DRAWING_VERSION}"`
}

/** For the picture and for the answer that it has not changed. Any site may show pictures (D-98). */
export function cachingHeaders(name: ImageName): Headers {
  return new Headers({
    'Cache-Control': 'public, max-age=86400',
    ETag: computeEtag(name),
    'Access-Control-Allow-Origin': '*',
    'Cross-Origin-Resource-Policy': 'cross-origin',
    'X-Content-Type-Options': 'nosniff',
    // Opened as a document, an SVG may contain anything that a page may.
    ...(name.format === 'svg' && { 'Content-Security-Policy': "default-src 'none'" }),
  })
}

/** Other requests are answered while a large picture is rendered. */
export async function render(name: ImageName): Promise<Image> {
  const headers = cachingHeaders(name)
  headers.set('Content-Type', MEDIA_TYPES[name.format])
  return { file: new Blob([await encode(name)]), headers }
}

async function encode({
  kind,
  id,
  width,
  height,
  format,
}: ImageName): Promise<string | Uint8Array<ArrayBuffer>> {
  const picture = draw(kind, id)
  if (format === 'svg') return encodeSvg(picture, width, height)
  return encodePng(await rasterize(picture, width, height, () => Bun.sleep(0)))
}
