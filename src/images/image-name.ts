import type { ImageKind } from '../contract/image-urls.ts'
import { type Refusal, refuse } from '../contract/problem.ts'

const MAX_SIDE = 2048

/** The sizes for URLs with placeholders that were not replaced (D-97). */
const DEFAULT_SIZES: Readonly<Record<ImageKind, Size>> = {
  users: { width: 300, height: 300 },
  games: { width: 285, height: 380 },
  channels: { width: 320, height: 180 },
  videos: { width: 320, height: 180 },
}

interface Size {
  readonly width: number
  readonly height: number
}

/** Which picture, in which size and format. The scenes of the demo have no URLs: its channels and videos show them. */
export interface ImageName extends Size {
  readonly kind: ImageKind | 'scenes'
  readonly id: string
  readonly format: 'png' | 'svg'
}

const PREFIX = '/images/'
/** An id is at most as long as a 64-bit number. */
const PATH = /^\/images\/(users|games|channels|videos)\/([0-9]{1,20})-([^/]*)\.(png|svg)$/
const SIZE = /^([1-9][0-9]{0,3})x([1-9][0-9]{0,3})$/

export function isImagePath(path: string): boolean {
  return path.startsWith(PREFIX)
}

/** Undefined if there is no picture at this path. */
export function readImagePath(path: string): ImageName | Refusal<'malformed_image_size'> | undefined {
  const [, kind, id, text, format] = PATH.exec(path) ?? []
  if (kind === undefined || id === undefined || text === undefined || format === undefined) return undefined
  const size = readSize(text, kind as ImageKind)
  if (size === undefined) return refuse('malformed_image_size', MAX_SIDE)
  return { kind: kind as ImageKind, id, ...size, format: format as ImageName['format'] }
}

/** The path of a picture in one spelling. Templates have that of their default size. */
export function imagePath({ kind, id, width, height, format }: ImageName): string {
  return `${PREFIX}${kind}/${id}-${width}x${height}.${format}`
}

function readSize(text: string, kind: ImageKind): Size | undefined {
  const [, width, height] = SIZE.exec(text) ?? []
  if (width === undefined || height === undefined) return isTemplate(text) ? DEFAULT_SIZES[kind] : undefined
  const size = { width: Number(width), height: Number(height) }
  return size.width <= MAX_SIDE && size.height <= MAX_SIDE ? size : undefined
}

const DECODED: Readonly<Record<string, string>> = { '%25': '%', '%7b': '{', '%7d': '}' }

/** Clients and the runtime encode all, some or none of the three characters. */
function isTemplate(text: string): boolean {
  const decoded = text.replaceAll(/%(?:25|7b|7d)/gi, code => DECODED[code.toLowerCase()] ?? code)
  return decoded === '{width}x{height}' || decoded === '%{width}x%{height}'
}
