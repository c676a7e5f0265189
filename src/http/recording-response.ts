import { raise } from '../contract/problem.ts'
import type { Recordings } from '../media/recordings.ts'
import type { Store } from '../store/store.ts'
import { isFileUrl, type MediaNode, redirectTo } from './media-redirect.ts'
import type { RequestContext } from './request-context.ts'

const RECORDING_PATH = /^\/videos\/([0-9]{1,19})\.flv$/

/** The id of the video in the path of a recording. */
export const recordedVideoOf = (path: string): string | undefined => RECORDING_PATH.exec(path)?.[1]

const HEADERS = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': 'Content-Length, Content-Range, Accept-Ranges',
  'Cross-Origin-Resource-Policy': 'cross-origin',
  'Cache-Control': 'no-cache',
  'X-Content-Type-Options': 'nosniff',
  'Content-Type': 'video/x-flv',
  'Accept-Ranges': 'bytes',
}

/** The recording of a video, or a range of it. One that another node or a media server has is read there. */
export async function answerRecording(
  video_id: string,
  recordings: Recordings | undefined,
  node: MediaNode & { readonly store: Store },
  context: RequestContext,
): Promise<Response> {
  const url =
    (await node.store.videos.recordingUrl(video_id)) ?? raise('not_found', 'recording of the video', video_id)
  const headers = { ...HEADERS, 'X-Request-Id': context.requestId }
  const file = recordings && Bun.file(recordings.fileOf(video_id))
  if (file === undefined || !(await file.exists())) {
    const { 'Content-Type': _, ...untyped } = headers
    const redirect = isFileUrl(url)
      ? new Response(null, { status: 307, headers: { ...untyped, Location: url } })
      : redirectTo(url, context.path, node, context, untyped)
    return redirect ?? raise('not_found', 'recording of the video', video_id)
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

/** One range of bytes; several, and other units, count as none. */
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
