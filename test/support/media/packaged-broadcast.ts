/**
 * A broadcast as the embedded media server offers it (D-250 to D-254), from fragments that ffmpeg makes: low-latency HLS
 * while a publisher is connected, a playlist of the recording that grows, and an MP4 afterwards. Pages get it by request
 * interception, so that a test decides what happens to it.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BrowserContext, Page, Route } from 'playwright-core'
import type { Pause } from '../browser/lateness.ts'
import { encodeNumbered, FRAMES_PER_SECOND, GROUP_SECONDS } from './numbered-video.ts'

const { TEST_FFMPEG = '' } = process.env
const PART_SECONDS = 0.5
const WINDOW_SEGMENTS = 6
/** A blocking request waits at most so long. */
const MAX_WAIT_MILLISECONDS = 6000
const FRAGMENTS = ['-movflags', 'empty_moov+default_base_moof+frag_keyframe', '-frag_duration', '500000']
const PLAYLIST = { 'Content-Type': 'application/vnd.apple.mpegurl' }
const VIDEO = { 'Content-Type': 'video/mp4' }

interface Part {
  readonly data: Buffer
  readonly frames: number
  /** Where it is in the recording. */
  readonly offset: number
}

interface Answer {
  readonly status: number
  readonly headers?: Record<string, string>
  readonly body?: string | Buffer
}

const NOT_FOUND: Answer = { status: 404 }

/** What one publisher sends until it leaves. */
class Connection {
  readonly id: number
  readonly startedAt = Date.now()
  readonly encoder = encodeNumbered([...FRAGMENTS, '-flush_packets', '1', '-f', 'mp4', 'pipe:1'])
  init: Buffer | undefined
  /** Where the init segment is in the recording. */
  initOffset = 0
  readonly segments: Part[][] = []
  isOver = false

  constructor(id: number) {
    this.id = id
  }

  /** Those with all their parts. */
  get complete(): number {
    return this.isOver ? this.segments.length : Math.max(0, this.segments.length - 1)
  }
}

export class PackagedBroadcast {
  readonly #login: string
  readonly #videoId: string
  readonly #folder = mkdtempSync(join(tmpdir(), 'strand-packaged-'))
  readonly #connections: Connection[] = []
  readonly #recording: Buffer[] = []
  #recordedBytes = 0
  #waiting: (() => void)[] = []
  #file: Buffer | undefined
  /** When the pictures of the current publisher were packaged, by their number. */
  #arrivedAt = new Map<number, number>()
  /** The paths that were asked for, with the status of the answer. */
  readonly asked: (readonly [path: string, status: number])[] = []

  constructor(login: string, videoId: string) {
    this.#login = login
    this.#videoId = videoId
  }

  get seconds(): number {
    const frames = this.#connections.flatMap(({ segments }) => segments.flat()).map(part => part.frames)
    return frames.reduce((sum, each) => sum + each, 0) / FRAMES_PER_SECOND
  }

  arrivedAt(number: number): number | undefined {
    return this.#arrivedAt.get(number)
  }

  /** How long no picture came, each time. */
  pauses(): Pause[] {
    const times = [...this.#arrivedAt.values()]
    return times.map((at, index) => ({ at, milliseconds: at - (times[index - 1] ?? at) }))
  }

  /** A publisher connects. Resolves when its first segment is complete. */
  async connect(): Promise<void> {
    const connection = new Connection(this.#connections.length + 1)
    this.#connections.push(connection)
    this.#arrivedAt = new Map()
    void this.#read(connection)
    while (connection.complete === 0) await this.#change()
  }

  /** The publisher leaves: its playlist ends. */
  async disconnect(): Promise<void> {
    const connection = this.#connections.at(-1)
    connection?.encoder.kill('SIGKILL')
    await connection?.encoder.exited
    if (connection !== undefined) connection.isOver = true
    this.#wake()
  }

  /** The stream ends: the recording is closed as a plain file. */
  async close(): Promise<void> {
    await this.disconnect()
    const [playlist, file] = [join(this.#folder, 'recorded.m3u8'), join(this.#folder, 'closed.mp4')]
    writeFileSync(join(this.#folder, 'recorded.mp4'), Buffer.concat(this.#recording))
    writeFileSync(playlist, `${this.#recordingPlaylist('recorded.mp4')}#EXT-X-ENDLIST\n`)
    const made = Bun.spawn([TEST_FFMPEG, '-loglevel', 'error', '-y', '-i', playlist, '-c', 'copy', file])
    if ((await made.exited) !== 0) throw new Error('ffmpeg could not close the recording')
    this.#file = Buffer.from(await Bun.file(file).bytes())
  }

  async remove(): Promise<void> {
    await this.disconnect()
    rmSync(this.#folder, { recursive: true, force: true })
  }

  /** Answers what pages ask for below `/live/` and of the recording. */
  async serveTo(pages: Page | BrowserContext): Promise<void> {
    const isMedia = ({ pathname }: URL) =>
      pathname.startsWith('/live/') || new RegExp(`^/videos/${this.#videoId}[./]`).test(pathname)
    await pages.route(isMedia, route => this.#fulfill(route))
  }

  async #fulfill(route: Route): Promise<void> {
    const url = new URL(route.request().url())
    const answer = await this.#answer(url, route.request().headers().range)
    this.asked.push([url.pathname, answer.status])
    // The page may be gone by now.
    await route.fulfill(answer).catch(() => undefined)
  }

  async #answer({ pathname, searchParams }: URL, range: string | undefined): Promise<Answer> {
    const current = this.#connections.at(-1)
    if (pathname === `/live/${this.#login}.m3u8`)
      return current === undefined || current.isOver
        ? NOT_FOUND
        : { status: 200, headers: PLAYLIST, body: this.#multivariant(current) }
    const [, id, file = ''] = new RegExp(`^/live/${this.#login}/([0-9]+)/(.+)$`).exec(pathname) ?? []
    const connection = this.#connections.find(each => String(each.id) === id)
    if (connection !== undefined) return this.#answerLive(connection, file, searchParams)
    if (pathname === `/videos/${this.#videoId}.m3u8`)
      return { status: 200, headers: PLAYLIST, body: this.#recordingPlaylist() }
    if (pathname === `/videos/${this.#videoId}/recorded`) return ranged(Buffer.concat(this.#recording), range)
    return pathname === `/videos/${this.#videoId}.mp4` && this.#file ? ranged(this.#file, range) : NOT_FOUND
  }

  async #answerLive(connection: Connection, file: string, query: URLSearchParams): Promise<Answer> {
    if (file === 'index.m3u8') {
      const [sequence, part] = [query.get('_HLS_msn'), query.get('_HLS_part')]
      const hasPart = () =>
        sequence === null ||
        connection.isOver ||
        connection.segments.length > Number(sequence) + 1 ||
        (connection.segments[Number(sequence)]?.length ?? 0) > Number(part ?? Number.MAX_SAFE_INTEGER)
      await this.#until(hasPart)
      return { status: 200, headers: PLAYLIST, body: livePlaylist(connection) }
    }
    if (file === 'init.mp4' && connection.init) return { status: 200, headers: VIDEO, body: connection.init }
    const [, sequence, part] = /^([0-9]+)(?:\.([0-9]+))?\.m4s$/.exec(file) ?? []
    const parts = () => connection.segments[Number(sequence)] ?? []
    if (part === undefined) {
      const body = Buffer.concat(parts().map(({ data }) => data))
      return body.length === 0 ? NOT_FOUND : { status: 200, headers: VIDEO, body }
    }
    // A part that is announced is waited for.
    await this.#until(() => connection.isOver || parts().length > Number(part))
    const data = parts()[Number(part)]?.data
    return data === undefined ? NOT_FOUND : { status: 200, headers: VIDEO, body: data }
  }

  #multivariant({ id }: Connection): string {
    return `#EXTM3U
#EXT-X-VERSION:9
#EXT-X-STREAM-INF:BANDWIDTH=800000,CODECS="avc1.42c00d,mp4a.40.2",RESOLUTION=320x180,FRAME-RATE=${FRAMES_PER_SECOND}
/live/${this.#login}/${id}/index.m3u8
`
  }

  #recordingPlaylist(file = `/videos/${this.#videoId}/recorded`): string {
    const lines = [
      '#EXTM3U',
      '#EXT-X-VERSION:9',
      `#EXT-X-TARGETDURATION:${GROUP_SECONDS}`,
      '#EXT-X-PLAYLIST-TYPE:EVENT',
    ]
    for (const { id, init, initOffset, segments, complete } of this.#connections) {
      if (complete === 0) continue
      if (id > 1) lines.push('#EXT-X-DISCONTINUITY')
      lines.push(`#EXT-X-MAP:URI="${file}",BYTERANGE="${init?.length}@${initOffset}"`)
      for (const parts of segments.slice(0, complete)) {
        const bytes = parts.reduce((sum, { data }) => sum + data.length, 0)
        lines.push(
          `#EXTINF:${durationOf(parts).toFixed(3)},`,
          `#EXT-X-BYTERANGE:${bytes}@${parts[0]?.offset}`,
        )
        lines.push(file)
      }
    }
    if (this.#file !== undefined) lines.push('#EXT-X-ENDLIST')
    return `${lines.join('\n')}\n`
  }

  /** Boxes of ffmpeg: ftyp and moov, then moof and mdat for each fragment. */
  async #read(connection: Connection): Promise<void> {
    let rest = Buffer.alloc(0)
    let box = Buffer.alloc(0)
    for await (const chunk of connection.encoder.stdout) {
      rest = Buffer.concat([rest, chunk])
      while (rest.length >= 8 && rest.length >= rest.readUInt32BE(0)) {
        const size = rest.readUInt32BE(0)
        const kind = rest.toString('latin1', 4, 8)
        box = Buffer.concat([box, rest.subarray(0, size)])
        rest = Buffer.from(rest.subarray(size))
        if (kind === 'moov') {
          connection.init = box
          connection.initOffset = this.#append(box)
        } else if (kind === 'mdat') this.#addPart(connection, box)
        if (kind === 'moov' || kind === 'mdat') box = Buffer.alloc(0)
      }
    }
  }

  #addPart(connection: Connection, data: Buffer): void {
    const frames = videoFrames(data)
    const before = connection.segments.flat().reduce((sum, part) => sum + part.frames, 0)
    if (before % (GROUP_SECONDS * FRAMES_PER_SECOND) === 0) connection.segments.push([])
    connection.segments.at(-1)?.push({ data, frames, offset: this.#append(data) })
    for (let frame = before; frame < before + frames; frame++) this.#arrivedAt.set(frame, Date.now())
    this.#wake()
  }

  #append(data: Buffer): number {
    const offset = this.#recordedBytes
    this.#recording.push(data)
    this.#recordedBytes += data.length
    return offset
  }

  #change(): Promise<void> {
    return new Promise(resolve => this.#waiting.push(resolve))
  }

  #wake(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const resolve of waiting) resolve()
  }

  async #until(isSo: () => boolean): Promise<void> {
    const late = Date.now() + MAX_WAIT_MILLISECONDS
    while (!isSo() && Date.now() < late)
      await Promise.race([this.#change(), Bun.sleep(MAX_WAIT_MILLISECONDS)])
  }
}

const durationOf = (parts: readonly Part[]): number =>
  parts.reduce((sum, { frames }) => sum + frames, 0) / FRAMES_PER_SECOND

function livePlaylist({ startedAt, segments, complete, isOver }: Connection): string {
  const first = Math.max(0, complete - WINDOW_SEGMENTS)
  const lines = [
    '#EXTM3U',
    '#EXT-X-VERSION:9',
    `#EXT-X-TARGETDURATION:${GROUP_SECONDS}`,
    `#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK=${3 * PART_SECONDS}`,
    `#EXT-X-PART-INF:PART-TARGET=${PART_SECONDS}`,
    `#EXT-X-MEDIA-SEQUENCE:${first}`,
    '#EXT-X-MAP:URI="init.mp4"',
  ]
  segments.slice(first).forEach((parts, index) => {
    const sequence = first + index
    const time = new Date(startedAt + durationOf(segments.slice(0, sequence).flat()) * 1000)
    lines.push(`#EXT-X-PROGRAM-DATE-TIME:${time.toISOString()}`)
    parts.forEach((part, at) => {
      const independent = at === 0 ? ',INDEPENDENT=YES' : ''
      lines.push(`#EXT-X-PART:DURATION=${durationOf([part])},URI="${sequence}.${at}.m4s"${independent}`)
    })
    if (sequence < complete) lines.push(`#EXTINF:${durationOf(parts).toFixed(3)},`, `${sequence}.m4s`)
    else lines.push(`#EXT-X-PRELOAD-HINT:TYPE=PART,URI="${sequence}.${parts.length}.m4s"`)
  })
  if (isOver) lines.push('#EXT-X-ENDLIST')
  return `${lines.join('\n')}\n`
}

/** The number of samples of the first track in a fragment. */
function videoFrames(fragment: Buffer): number {
  const at = fragment.indexOf('trun')
  return at === -1 ? 0 : fragment.readUInt32BE(at + 8)
}

function ranged(whole: Buffer, range: string | undefined): Answer {
  const [, from = '', to = ''] = /^bytes=([0-9]+)-([0-9]*)$/.exec(range ?? '') ?? []
  if (from === '') return { status: 200, headers: { ...VIDEO, 'Accept-Ranges': 'bytes' }, body: whole }
  const end = to === '' ? whole.length : Math.min(whole.length, Number(to) + 1)
  if (Number(from) >= whole.length) return { status: 416 }
  return {
    status: 206,
    headers: {
      ...VIDEO,
      'Accept-Ranges': 'bytes',
      'Content-Range': `bytes ${from}-${end - 1}/${whole.length}`,
    },
    body: whole.subarray(Number(from), end),
  }
}
