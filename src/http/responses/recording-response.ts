/**
 * Recordings, for everyone and without a point (D-253, D-254):
 *
 *     /videos/<id>.m3u8    the playlist; it grows while the stream runs
 *     /videos/<id>.mp4     the file, whole or a range; while the stream runs only the ranges that the playlist names
 *
 * Where several nodes received the stream, the playlist lists what each of them has, and `?part=2` names the second file (D-261).
 * What is in the bucket is read there: the playlist names our path, because a signed URL expires (D-263).
 */
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { type Refusal, refuse } from '../../contract/problem.ts'
import { LruCache } from '../../kit/lru-cache.ts'
import { type Bucket, objectKey } from '../../media/bucket.ts'
import { joinPlaylists } from '../../media/recording/joined-playlist.ts'
import type { Recordings } from '../../media/recording/recordings.ts'
import type { DemoControls } from '../../operations/demo/demo-controls.ts'
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

const MAX_PLAYLISTS = 64
const BOTH_ENDS = /=\s*[0-9]+-[0-9]+\s*$/

interface RecordingSources {
  readonly recordings: Recordings | undefined
  /** Undefined: recordings are on nodes only. */
  readonly bucket: Bucket | undefined
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

/** The playlist of a recording that is here, in the bucket, or on several nodes; or else where it is. */
async function answerPlaylist(
  video_id: string,
  sources: RecordingSources,
  context: RequestContext,
): Promise<Response | Refusal> {
  const url = await sources.services.store.videos.recordingUrl(video_id)
  if (url === undefined) return refuse('not_found', 'recording of the video', video_id)
  const found = await findPlaylist(video_id, sources)
  if (found === undefined || 'elsewhere' in found)
    return answerElsewhere(found?.elsewhere ?? url, video_id, sources, context)
  const isGzipped = /\bgzip\b/.test(context.headers.get('accept-encoding') ?? '')
  const body = isGzipped ? await compress(found.text) : found.text
  return respond(context, body, {
    'Content-Type': 'application/vnd.apple.mpegurl',
    'Cache-Control': found.isGrowing ? CACHED_BRIEFLY : CACHED,
    Vary: 'Accept-Encoding',
    ...(isGzipped && { 'Content-Encoding': 'gzip' }),
  })
}

/** Playlists of recordings that are complete and not here, by store. */
const completed = new WeakMap<Store, LruCache<Blob>>()

interface FoundPlaylist {
  readonly text: Blob
  readonly isGrowing: boolean
}

async function findPlaylist(
  video_id: string,
  sources: RecordingSources,
): Promise<FoundPlaylist | { readonly elsewhere: string } | undefined> {
  const { recordings, services } = sources
  const { store, mediaUrl } = services
  const files = await store.recordingFiles.of(video_id)
  const local = await recordings?.playlist(video_id)
  const [only] = files
  if (files.length < 2 && (local !== undefined || only?.state !== 'stored')) return local
  const folder = await recordings?.folderId()
  const isGrowing = local?.isGrowing || (await store.streams.runningVideos([video_id])).has(video_id)
  const latest = files.reduce((a, b) => (b.published_at > a.published_at ? b : a))
  // Its node has the end.
  const isElsewhere = latest.folder !== folder && latest.url !== '' && latest.url !== mediaUrl
  if (isGrowing && isElsewhere) return { elsewhere: latest.url }
  const cache = completed.get(store) ?? new LruCache<Blob>(MAX_PLAYLISTS)
  completed.set(store, cache)
  const version = [video_id, ...files.map(({ changed_at }) => changed_at)].join(' ')
  const known = isGrowing ? undefined : cache.get(version)
  if (known !== undefined) return { text: known, isGrowing }
  const playlists = new Map(await store.recordingFiles.playlistsOf(video_id))
  const own = files.find(file => file.folder === folder)
  if (own !== undefined && local !== undefined) playlists.set(own.part, await local.text.text())
  const parts = files.flatMap(({ part, state, url }) => {
    const text = playlists.get(part)
    const name = part === 1 ? `${video_id}.mp4` : `${video_id}.mp4?part=${part}`
    // Every node serves what is in the bucket.
    const uri = state === 'stored' || url === '' ? name : `${url}/videos/${name}`
    return text === undefined ? [] : [{ uri, text }]
  })
  if (parts.length === 0) return undefined
  const text = new Blob([joinPlaylists(parts, isGrowing)])
  if (!isGrowing) cache.set(version, text)
  return { text, isGrowing }
}

/** The file of a recording, or a range of it. */
async function answerFile(
  video_id: string,
  sources: RecordingSources,
  context: RequestContext,
): Promise<Response | Refusal> {
  const { recordings, bucket, services } = sources
  const video = await services.store.videos.find(video_id)
  const url = video && (await services.store.videos.recordingUrl(video_id))
  if (video === undefined || url === undefined) return refuse('not_found', 'recording of the video', video_id)
  const part = readPart(context)
  const files = await services.store.recordingFiles.of(video_id)
  const stored = files.find(each => each.part === part)
  if (stored === undefined && part !== 1) return refuse('not_found', 'recording of the video', video_id)
  const isHere = files.length === 0 || stored?.folder === (await recordings?.folderId())
  const file = isHere && recordings ? Bun.file(recordings.filePath(video_id)) : undefined
  const disposition = isDownload(context) ? attachment(video.title, video_id, part) : undefined
  if (file === undefined || !(await file.exists())) {
    if (stored?.state !== 'stored' || bucket === undefined)
      return answerElsewhere(stored?.url ?? url, video_id, sources, context)
    const method = context.method === 'HEAD' ? 'HEAD' : 'GET'
    return redirect(bucket.viewerUrl(objectKey(stored), method, disposition), context)
  }
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
    ...(disposition !== undefined && { 'Content-Disposition': disposition }),
  }
  if (range === 'unsatisfiable')
    return respond(context, null, { ...headers, 'Content-Range': `bytes */${total}` }, 416)
  if (range === undefined) return respond(context, file, headers)
  const { from, to } = range
  const some = { ...headers, 'Content-Range': `bytes ${from}-${to - 1}/${total}` }
  return respond(context, file.slice(from, to), some, 206)
}

/** The file that is asked for, of those that nodes have of a video. */
const readPart = ({ search }: RequestContext): number =>
  Number(/(?:^|&)part=([0-9]{1,4})(?:&|$)/.exec(search)?.[1] ?? 1)

/** What another node or a media server has is read there. */
function answerElsewhere(
  url: string,
  video_id: string,
  { services: node }: RecordingSources,
  context: RequestContext,
): Response | Refusal {
  const isPlaylist = context.path.endsWith('.m3u8')
  if (isFileUrl(url) && isPlaylist !== url.endsWith('.m3u8'))
    return refuse('not_found', 'recording of the video', video_id)
  if (isFileUrl(url)) return redirect(url, context)
  const kept = context.search.split('&').filter(each => /^(?:part=[0-9]{1,4}|download(?:=.*)?)$/.test(each))
  const path = kept.length === 0 ? context.path : `${context.path}?${kept.join('&')}`
  const headers = redirectHeaders(context)
  return (
    redirectTo(url, path, node, context, headers) ?? refuse('not_found', 'recording of the video', video_id)
  )
}

const redirectHeaders = ({ requestId }: RequestContext) => ({
  ...HEADERS,
  'Cache-Control': 'no-cache',
  'X-Request-Id': requestId,
})

const redirect = (url: string, context: RequestContext) =>
  new Response(null, { status: 307, headers: { ...redirectHeaders(context), Location: url } })

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
export function attachment(title: string, video_id: string, part = 1): string {
  const end = part === 1 ? '' : ` (part ${part})`
  const safe = [...title.toWellFormed().replace(UNSAFE, ' ').replace(/\s+/g, ' ').trim()].slice(0, MAX_NAME)
  const name = safe.join('').replace(/^[. ]+|[. ]+$/g, '') || `video ${video_id}`
  const ascii =
    name
      .normalize('NFKD')
      .replace(/[^ -~]/g, '')
      .trim() || `video ${video_id}`
  const encoded = encodeURIComponent(name).replace(/['()*]/g, each => `%${each.charCodeAt(0).toString(16)}`)
  return `attachment; filename="${ascii}${end}.mp4"; filename*=UTF-8''${encoded}${encodeURIComponent(end)}.mp4`
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
