/**
 * Broadcasts as HLS, for everyone and without a point (D-250 to D-252):
 *
 *     /live/<login>.m3u8                      the multivariant playlist, from any node
 *     /live/<login>/<broadcast>/index.m3u8    the media playlist, from the node that has the broadcast
 *     /live/<login>/<broadcast>/init-0.mp4, 7.m4s, 7.2.m4s
 *
 * A broadcast has a new id with every connection of its publisher, so that its files never change and may be cached for ever.
 * Every answer is sent from bytes that all requests share.
 */
import { type Refusal, refuse } from '../../contract/problem.ts'
import { multivariantPlaylist } from '../../media/hls/playlist.ts'
import type { Reader, Unanswered } from '../../media/hls/readers.ts'
import type { Broadcast, LiveChannels } from '../../media/live-channels.ts'
import type { Services } from '../../operations/implement.ts'
import { asksToSee } from '../../site/pages.ts'
import { fullBucket } from '../limits/rate-limit.ts'
import type { RequestContext } from '../request-context.ts'
import { answerInvented } from './invented-response.ts'

const MULTIVARIANT_PATH = /^\/live\/([A-Za-z0-9_]{1,25})\.m3u8$/
const BROADCAST_PATH = /^\/live\/([A-Za-z0-9_]{1,25})\/([A-Za-z0-9-]{1,64})\/([a-z0-9.-]{1,40})$/
const INIT = /^init-([0-9]{1,9})\.mp4$/
const SEGMENT = /^([0-9]{1,12})\.m4s$/
const PART = /^([0-9]{1,12})\.([0-9]{1,6})\.m4s$/

export const isLivePath = (path: string): boolean => path.startsWith('/live/')

/** Of a broadcast on another node that has not been measured yet. */
const UNKNOWN_BITS_PER_SECOND = 6_000_000

const CACHED_FOR_EVER = 'public, max-age=86400, immutable'
const CACHED_BRIEFLY = 'max-age=1'
/** The answer to a request for a part is the same until that part has left the window. */
const CACHED_FOR_OTHERS = 'max-age=6'

const HEADERS = {
  'Access-Control-Allow-Origin': '*',
  'Cross-Origin-Resource-Policy': 'cross-origin',
  'X-Content-Type-Options': 'nosniff',
}

/** For players on other sites that ask before they send a header such as Range. */
export function answerMediaPreflight({ requestId }: RequestContext): Response {
  return new Response(null, {
    status: 204,
    headers: {
      'Access-Control-Allow-Origin': '*',
      'Access-Control-Allow-Methods': 'GET, HEAD, OPTIONS',
      'Access-Control-Allow-Headers': 'Range',
      'Access-Control-Max-Age': '86400',
      'Cache-Control': 'no-store',
      'X-Request-Id': requestId,
    },
  })
}

interface LiveSources {
  readonly liveChannels: LiveChannels
  readonly services: Pick<Services, 'store' | 'heartbeats' | 'mediaUrl' | 'demo'>
}

/** Undefined: there is nothing at this path. */
export function answerLive(
  sources: LiveSources,
  context: RequestContext,
): Response | Refusal | Promise<Response | Refusal> | undefined {
  context.allowance = fullBucket(Date.now())
  if (context.method === 'OPTIONS') return answerMediaPreflight(context)
  if (!asksToSee(context.method)) return undefined
  const login = MULTIVARIANT_PATH.exec(context.path)?.[1]?.toLowerCase()
  if (login !== undefined) return answerMultivariant(login, sources, context)
  const [, channel = '', id = '', file] = BROADCAST_PATH.exec(context.path) ?? []
  return file === undefined ? undefined : answerFile(channel, id, file, sources, context)
}

async function answerMultivariant(
  login: string,
  sources: LiveSources,
  context: RequestContext,
): Promise<Response | Refusal> {
  const { liveChannels: channels } = sources
  const broadcast = channels.find(login)
  if (broadcast === undefined) return answerElsewhere(login, sources, context)
  const { id, packager } = broadcast
  const variant = await packager.variant(waitingReader(channels, context))
  if (typeof variant === 'string') return refuseUnanswered(variant, login, true)
  const text = multivariantPlaylist({ uri: `${login}/${id}/index.m3u8`, ...variant })
  return answerPlaylist(new Blob([text]), CACHED_BRIEFLY, channels, context)
}

/** A broadcast that another node receives is read there: video passes through one node only. */
async function answerElsewhere(
  login: string,
  { liveChannels: channels, services: { store, mediaUrl, demo } }: LiveSources,
  context: RequestContext,
): Promise<Response | Refusal> {
  const found = await store.streams.broadcastOf(login)
  if (found?.watch_url === null && store.engine === 'postgres') return refuse('broadcast_elsewhere', login)
  const { watch_url: node, session, encoder } = found ?? {}
  if (!node || node === mediaUrl) return (await answerInvented(demo, context)) ?? refuse('not_live', login)
  const { kilobits_per_second: kilobits = 0, codecs = [], width, height } = encoder ?? {}
  const text = multivariantPlaylist({
    uri: `${node}/live/${login}/${session}/index.m3u8`,
    bitsPerSecond: kilobits === 0 ? UNKNOWN_BITS_PER_SECOND : kilobits * 1000,
    codecs,
    ...{ width, height, framesPerSecond: encoder?.frames_per_second },
  })
  return answerPlaylist(new Blob([text]), CACHED_BRIEFLY, channels, context)
}

function answerFile(
  login: string,
  id: string,
  file: string,
  { liveChannels: channels, services }: LiveSources,
  context: RequestContext,
): Response | Refusal | Promise<Response | Refusal> | undefined {
  const broadcast = channels.findById(id)
  if (broadcast === undefined)
    return answerInvented(services.demo, context).then(found => found ?? refuse('not_live', login))
  const { packager } = broadcast
  if (file === 'index.m3u8') return answerMedia(login, broadcast, channels, services, context)
  const [, init] = INIT.exec(file) ?? []
  if (init !== undefined) return answerBytes(packager.init(Number(init)), login, channels, context)
  const send = (found: Blob | Unanswered | undefined, sequence: number) => {
    if (found instanceof Blob && context.method !== 'HEAD')
      channels.sending(context.peer, broadcast, sequence)
    return answerBytes(found, login, channels, context)
  }
  const [, whole] = SEGMENT.exec(file) ?? []
  if (whole !== undefined) return send(packager.segment(Number(whole)), Number(whole))
  const [, sequence, part] = PART.exec(file) ?? []
  if (sequence === undefined) return undefined
  return packager
    .part(Number(sequence), Number(part), waitingReader(channels, context))
    .then(found => send(found, Number(sequence)))
}

/** The media playlist: as it is, or as soon as it has a part. */
async function answerMedia(
  login: string,
  { user_id, packager }: Broadcast,
  channels: LiveChannels,
  { heartbeats }: LiveSources['services'],
  context: RequestContext,
): Promise<Response | Refusal> {
  const { searchParams } = new URL(`http://localhost/?${context.search}`)
  const [sequence, part] = [searchParams.get('_HLS_msn'), searchParams.get('_HLS_part')]
  if (sequence === null && part !== null) return refuse('missing_parameter', '_HLS_msn')
  for (const [name, value] of [
    ['_HLS_msn', sequence],
    ['_HLS_part', part],
  ] as const)
    if (value !== null && !/^[0-9]{1,12}$/.test(value))
      return refuse('malformed_parameter', name, 'the value must be a whole number')
  heartbeats.read(user_id, context.address(), context.headers.get('user-agent') ?? '')
  const asked =
    sequence === null
      ? undefined
      : { sequence: Number(sequence), part: part === null ? undefined : Number(part) }
  const found = await packager.playlist(waitingReader(channels, context), asked)
  if (typeof found === 'string') return refuseUnanswered(found, login, !packager.hasEnded)
  return answerPlaylist(found, asked === undefined ? CACHED_BRIEFLY : CACHED_FOR_OTHERS, channels, context)
}

/** The reader that a request is, if it has to wait. */
function waitingReader(channels: LiveChannels, context: RequestContext): Reader {
  return {
    take: () => {
      const leave = channels.takePlace(context.address())
      if (leave !== undefined) context.holdOpen(channels.idleSeconds)
      return leave
    },
    get signal() {
      return context.request.signal
    },
  }
}

function answerPlaylist(
  body: Blob,
  caching: string,
  channels: LiveChannels,
  context: RequestContext,
): Response {
  context.holdOpen(channels.idleSeconds)
  return respond(body, 'application/vnd.apple.mpegurl', caching, context)
}

function answerBytes(
  found: Blob | Unanswered | undefined,
  login: string,
  channels: LiveChannels,
  context: RequestContext,
): Response | Refusal {
  if (typeof found === 'string') return refuseUnanswered(found, login, false)
  if (found === undefined) return refuse('not_live', login)
  context.holdOpen(channels.idleSeconds)
  return respond(found, 'video/mp4', CACHED_FOR_EVER, context)
}

function respond(body: Blob, type: string, caching: string, context: RequestContext): Response {
  const headers = {
    ...HEADERS,
    'Content-Type': type,
    'Cache-Control': caching,
    'Content-Length': String(body.size),
    'X-Request-Id': context.requestId,
  }
  return new Response(context.method === 'HEAD' ? null : body, { headers })
}

function refuseUnanswered(why: Unanswered, login: string, isRunning: boolean): Refusal {
  if (why === 'full') return refuse('viewers_full')
  if (why === 'too far') return refuse('playlist_too_far')
  if (why === 'late') return refuse('broadcast_late')
  return isRunning ? refuse('not_live', login, 'starts soon') : refuse('not_live', login)
}
