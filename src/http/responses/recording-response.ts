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

const RECORDING_PATH = /^\/videos\/([0-9]{1,19})\.flv$/

const HLS_PATH = /^\/videos\/([0-9]{1,19})(?:\.m3u8|\/[^/]+\/[^/]+\.(?:mp4|m4s))$/

export const isRecordingPath = (path: string): boolean => RECORDING_PATH.test(path) || HLS_PATH.test(path)

const HEADERS = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': 'Content-Length, Content-Range, Accept-Ranges',
  'Cross-Origin-Resource-Policy': 'cross-origin',
  'Cache-Control': 'no-cache',
  'X-Content-Type-Options': 'nosniff',
  'Content-Type': 'video/x-flv',
  'Accept-Ranges': 'bytes',
}

interface RecordingSources {
  readonly recordings: Recordings | undefined
  readonly services: MediaNode & { readonly store: Store; readonly demo?: DemoControls }
}

/** A recording, for everyone and without a point. Undefined: the method is none of its path. */
export function answerRecording(
  sources: RecordingSources,
  context: RequestContext,
): Response | Promise<Response | Refusal> | undefined {
  context.allowance = fullBucket(Date.now())
  if (context.method === 'OPTIONS') return answerMediaPreflight(context)
  if (!asksToSee(context.method)) return undefined
  const invented = HLS_PATH.exec(context.path)?.[1]
  if (invented !== undefined) return answerHls(invented, sources, context)
  const video_id = RECORDING_PATH.exec(context.path)?.[1]
  return video_id === undefined ? undefined : answerVideo(video_id, sources, context)
}

/** Only what a demo invents is HLS. */
async function answerHls(
  video_id: string,
  { services }: RecordingSources,
  context: RequestContext,
): Promise<Response | Refusal> {
  const invented = await answerInvented(services.demo, context)
  return invented ?? refuse('not_found', 'recording of the video', video_id)
}

/** The recording of a video, or a range of it. One that another node or a media server has is read there. */
async function answerVideo(
  video_id: string,
  { recordings, services: node }: RecordingSources,
  context: RequestContext,
): Promise<Response | Refusal> {
  const url = await node.store.videos.recordingUrl(video_id)
  if (url === undefined) return refuse('not_found', 'recording of the video', video_id)
  const headers = { ...HEADERS, 'X-Request-Id': context.requestId }
  const file = recordings && Bun.file(recordings.filePath(video_id))
  if (file === undefined || !(await file.exists())) {
    const { 'Content-Type': _, ...untyped } = headers
    const redirect = isFileUrl(url)
      ? new Response(null, { status: 307, headers: { ...untyped, Location: url } })
      : redirectTo(url, context.path, node, context, untyped)
    return redirect ?? refuse('not_found', 'recording of the video', video_id)
  }
  const { size } = file
  const range = readRange(context.headers.get('range'), size)
  if (range === 'unsatisfiable')
    return new Response(null, { status: 416, headers: { ...headers, 'Content-Range': `bytes */${size}` } })
  const { from, to } = range ?? { from: 0, to: size }
  const length = { 'Content-Length': String(to - from) }
  const status = range === undefined ? 200 : 206
  const part = range === undefined ? {} : { 'Content-Range': `bytes ${from}-${to - 1}/${size}` }
  context.holdOpen()
  const body = context.method === 'HEAD' ? null : file.slice(from, to)
  return new Response(body, { status, headers: { ...headers, ...length, ...part } })
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
