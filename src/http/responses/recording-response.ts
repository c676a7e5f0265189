/**
 * Recordings, for everyone and without a point (D-253, D-254):
 *
 *     /videos/<id>.m3u8    the playlist; it grows while the stream runs
 *     /videos/<id>.mp4     the file, whole or a range; while the stream runs only the ranges that the playlist names
 */
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { type Refusal, refuse } from '../../contract/problem.ts'
import type { Recordings } from '../../media/recordings.ts'
import type { DemoControls } from '../../operations/demo-controls.ts'
import { asksToSee } from '../../site/pages.ts'
import type { Store } from '../../store/store.ts'
import { fullBucket } from '../limits/rate-limit.ts'
import type { RequestContext } from '../request-context.ts'
import { answerInvented } from './invented-response.ts'
import { answerMediaPreflight } from './live-response.ts'
import { isFileUrl, type MediaNode, redirectTo } from './media-redirect.ts'

/** A file of a playlist that a demo invents has a folder. */
const RECORDING_PATH = /^\/videos\/([0-9]{1,19})(?:\.(mp4|m3u8)|\/[^/]+\/[^/]+\.(?:mp4|m4s))$/

export const isRecordingPath = (path: string): boolean => RECORDING_PATH.test(path)

const HEADERS = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': 'Content-Length, Content-Range, Accept-Ranges',
  'Cross-Origin-Resource-Policy': 'cross-origin',
  'X-Content-Type-Options': 'nosniff',
}
/** A video may be deleted, so nothing is kept for long. */
const CACHED = 'max-age=60'
const CACHED_BRIEFLY = 'max-age=1'
/** A client that takes nothing for so long is disconnected. */
const IDLE_SECONDS = 20

const BOTH_ENDS = /=\s*[0-9]+-[0-9]+\s*$/

interface RecordingSources {
  readonly recordings: Recordings | undefined
  readonly services: MediaNode & { readonly store: Store; readonly demo?: DemoControls }
}

/** Undefined: the method is none of its path. */
export function answerRecording(
  sources: RecordingSources,
  context: RequestContext,
): Response | Promise<Response | Refusal> | undefined {
  context.allowance = fullBucket(Date.now())
  if (context.method === 'OPTIONS') return answerMediaPreflight(context)
  const [, video_id, type] = (asksToSee(context.method) && RECORDING_PATH.exec(context.path)) || []
  if (video_id === undefined) return undefined
  return type === 'mp4' ? answerFile(video_id, sources, context) : answerHls(video_id, sources, context)
}

/** What a demo invents, or the playlist of a recording. */
async function answerHls(
  video_id: string,
  sources: RecordingSources,
  context: RequestContext,
): Promise<Response | Refusal> {
  const invented = await answerInvented(sources.services.demo, context)
  if (invented !== undefined) return invented
  return context.path.endsWith('.m3u8')
    ? answerPlaylist(video_id, sources, context)
    : refuse('not_found', 'recording of the video', video_id)
}

/** The playlist that a recording of this node has, or else where it is. */
async function answerPlaylist(
  video_id: string,
  sources: RecordingSources,
  context: RequestContext,
): Promise<Response | Refusal> {
  const url = await sources.services.store.videos.recordingUrl(video_id)
  if (url === undefined) return refuse('not_found', 'recording of the video', video_id)
  const found = await sources.recordings?.playlist(video_id)
  if (found === undefined) return answerElsewhere(url, video_id, sources, context)
  const isGzipped = /\bgzip\b/.test(context.headers.get('accept-encoding') ?? '')
  const body = isGzipped ? await compress(found.text) : found.text
  return respond(context, body, {
    'Content-Type': 'application/vnd.apple.mpegurl',
    'Cache-Control': found.isGrowing ? CACHED_BRIEFLY : CACHED,
    Vary: 'Accept-Encoding',
    ...(isGzipped && { 'Content-Encoding': 'gzip' }),
  })
}

/** The file of a recording, or a range of it. */
async function answerFile(
  video_id: string,
  sources: RecordingSources,
  context: RequestContext,
): Promise<Response | Refusal> {
  const { recordings, services } = sources
  const video = await services.store.videos.find(video_id)
  const url = video && (await services.store.videos.recordingUrl(video_id))
  if (video === undefined || url === undefined) return refuse('not_found', 'recording of the video', video_id)
  const file = recordings && Bun.file(recordings.filePath(video_id))
  if (file === undefined || !(await file.exists())) return answerElsewhere(url, video_id, sources, context)
  const open = recordings?.find(video_id)
  const size = open?.bytes ?? file.size
  const asked = context.headers.get('range')
  const range = readRange(asked, size)
  // A player that opens the file itself asks for all that follows, or for its end.
  if (open !== undefined && (typeof range !== 'object' || !BOTH_ENDS.test(asked ?? '')))
    return refuse('recording_runs', video_id)
  const total = open === undefined ? size : '*'
  const headers = {
    'Content-Type': 'video/mp4',
    'Cache-Control': CACHED,
    'Accept-Ranges': 'bytes',
    ...(isDownload(context) && { 'Content-Disposition': attachment(video.title, video_id) }),
  }
  if (range === 'unsatisfiable')
    return respond(context, null, { ...headers, 'Content-Range': `bytes */${total}` }, 416)
  if (range === undefined) return respond(context, file, headers)
  const { from, to } = range
  const part = { ...headers, 'Content-Range': `bytes ${from}-${to - 1}/${total}` }
  return respond(context, file.slice(from, to), part, 206)
}

/** What another node or a media server has is read there. */
function answerElsewhere(
  url: string,
  video_id: string,
  { services: node }: RecordingSources,
  context: RequestContext,
): Response | Refusal {
  const headers = { ...HEADERS, 'Cache-Control': 'no-cache', 'X-Request-Id': context.requestId }
  const isPlaylist = context.path.endsWith('.m3u8')
  if (isFileUrl(url) && isPlaylist !== url.endsWith('.m3u8'))
    return refuse('not_found', 'recording of the video', video_id)
  const redirect = isFileUrl(url)
    ? new Response(null, { status: 307, headers: { ...headers, Location: url } })
    : redirectTo(url, context.path, node, context, headers)
  return redirect ?? refuse('not_found', 'recording of the video', video_id)
}

function respond(
  context: RequestContext,
  body: Blob | null,
  headers: Readonly<Record<string, string>>,
  status = 200,
): Response {
  context.holdOpen(IDLE_SECONDS)
  return new Response(context.method === 'HEAD' ? null : body, {
    status,
    headers: {
      ...HEADERS,
      ...headers,
      'X-Request-Id': context.requestId,
      ...(body !== null && { 'Content-Length': String(body.size) }),
    },
  })
}

/** The text of a playlist is the same object until it grows, and is compressed once. */
const compressed = new WeakMap<Blob, Promise<Blob>>()
const gzipped = promisify(gzip)

function compress(text: Blob): Promise<Blob> {
  const known = compressed.get(text)
  if (known !== undefined) return known
  const made = text.arrayBuffer().then(async bytes => new Blob([await gzipped(bytes)]))
  compressed.set(text, made)
  return made
}

const isDownload = ({ search }: RequestContext) =>
  search.split('&').some(each => each === 'download' || each.startsWith('download='))

const MAX_NAME = 100
/** Characters that a file name cannot have on some system, and those that cannot be seen. */
const UNSAFE = /[\p{C}\\/:*?"<>|%]+/gu

/** The title as the name of the file: in ASCII for old clients, and as it is. */
export function attachment(title: string, video_id: string): string {
  const safe = [...title.toWellFormed().replace(UNSAFE, ' ').replace(/\s+/g, ' ').trim()].slice(0, MAX_NAME)
  const name = safe.join('').replace(/^[. ]+|[. ]+$/g, '') || `video ${video_id}`
  const ascii =
    name
      .normalize('NFKD')
      .replace(/[^ -~]/g, '')
      .trim() || `video ${video_id}`
  const encoded = encodeURIComponent(name).replace(/['()*]/g, each => `%${each.charCodeAt(0).toString(16)}`)
  return `attachment; filename="${ascii}.mp4"; filename*=UTF-8''${encoded}.mp4`
}

/** Reads a `Range` header with one range of bytes. Several ranges and other units are ignored. */
export function readRange(
  header: string | null,
  size: number,
): { readonly from: number; readonly to: number } | 'unsatisfiable' | undefined {
  const [, first, last] = /^bytes=([0-9]{0,15})-([0-9]{0,15})$/.exec(header?.trim() ?? '') ?? []
  if (first === undefined || last === undefined || (first === '' && last === '')) return undefined
  if (first === '')
    return Number(last) === 0 ? 'unsatisfiable' : { from: Math.max(0, size - Number(last)), to: size }
  if (Number(first) >= size) return 'unsatisfiable'
  const to = last === '' ? size : Math.min(Number(last) + 1, size)
  return to <= Number(first) ? undefined : { from: Number(first), to }
}
