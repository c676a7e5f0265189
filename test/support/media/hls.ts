/** Playlists of HLS as a player reads them, and broadcasts that publishers in tests send. */
import { expect } from 'bun:test'
import { AAC, AVC } from './codecs.ts'
import { RtmpClient } from './rtmp-client.ts'

interface PlaylistPart {
  readonly uri: string
  readonly seconds: number
  readonly isIndependent: boolean
}

export interface PlaylistSegment {
  readonly sequence: number
  /** Undefined: it is not complete. */
  readonly uri: string | undefined
  readonly seconds: number
  readonly init: string
  readonly isDiscontinuous: boolean
  /** The number of discontinuities up to its start. */
  readonly discontinuities: number
  readonly startsAt: number
  readonly parts: readonly PlaylistPart[]
}

export interface Playlist {
  readonly text: string
  readonly targetSeconds: number
  readonly partSeconds: number
  readonly discontinuitySequence: number
  readonly segments: readonly PlaylistSegment[]
  readonly hint: string | undefined
  readonly hasEnded: boolean
}

const attribute = (line: string, name: string) =>
  new RegExp(`[:,]${name}=(?:"([^"]*)"|([^,]*))`)
    .exec(line)
    ?.slice(1)
    .find(each => each !== undefined)

/** Throws if it is no valid media playlist. */
export function parsePlaylist(text: string): Playlist {
  const lines = text.split('\n')
  expect([lines[0], lines.at(-1)]).toEqual(['#EXTM3U', ''])
  const value = (tag: string) => lines.find(line => line.startsWith(`${tag}:`))?.slice(tag.length + 1)
  let sequence = Number(value('#EXT-X-MEDIA-SEQUENCE'))
  let init = ''
  let discontinuities = Number(value('#EXT-X-DISCONTINUITY-SEQUENCE') ?? 0)
  let next = { isDiscontinuous: false, startsAt: 0, seconds: 0, parts: [] as PlaylistPart[] }
  const segments: PlaylistSegment[] = []
  const push = (uri: string | undefined) => {
    if (next.isDiscontinuous) discontinuities += 1
    segments.push({ ...next, sequence, uri, init, discontinuities })
    sequence += 1
    next = { isDiscontinuous: false, startsAt: 0, seconds: 0, parts: [] }
  }
  for (const line of lines) {
    if (line === '#EXT-X-DISCONTINUITY') next.isDiscontinuous = true
    else if (line.startsWith('#EXT-X-MAP:')) init = attribute(line, 'URI') ?? ''
    else if (line.startsWith('#EXT-X-PROGRAM-DATE-TIME:')) next.startsAt = Date.parse(line.slice(25))
    else if (line.startsWith('#EXTINF:')) next.seconds = Number.parseFloat(line.slice(8))
    else if (line.startsWith('#EXT-X-PART:'))
      next.parts.push({
        uri: attribute(line, 'URI') ?? '',
        seconds: Number(attribute(line, 'DURATION')),
        isIndependent: attribute(line, 'INDEPENDENT') === 'YES',
      })
    else if (line !== '' && !line.startsWith('#')) push(line)
  }
  if (next.parts.length > 0) push(undefined)
  const hintLine = lines.find(line => line.startsWith('#EXT-X-PRELOAD-HINT:'))
  return {
    text,
    targetSeconds: Number(value('#EXT-X-TARGETDURATION')),
    partSeconds: Number(attribute(`:${value('#EXT-X-PART-INF')}`, 'PART-TARGET')),
    discontinuitySequence: Number(value('#EXT-X-DISCONTINUITY-SEQUENCE') ?? 0),
    segments,
    hint: hintLine === undefined ? undefined : attribute(hintLine, 'URI'),
    hasEnded: lines.includes('#EXT-X-ENDLIST'),
  }
}

/** A broadcast as a player sees it. */
export class HlsPlayer {
  readonly mediaUrl: URL

  constructor(mediaUrl: URL) {
    this.mediaUrl = mediaUrl
  }

  /** Opens the channel, as soon as it is live. */
  static async open(url: string, login: string): Promise<HlsPlayer> {
    const multivariant = new URL(`/live/${login}.m3u8`, url)
    for (;;) {
      const response = await fetch(multivariant)
      const text = await response.text()
      if (response.ok) return new HlsPlayer(new URL(text.trim().split('\n').at(-1) ?? '', multivariant))
      await Bun.sleep(20)
    }
  }

  ask(search = '', options: RequestInit = {}): Promise<Response> {
    return fetch(`${this.mediaUrl}${search}`, options)
  }

  async playlist(search = ''): Promise<Playlist> {
    const response = await this.ask(search)
    const text = await response.text()
    if (!response.ok) throw new Error(`${response.status} ${text}`)
    return parsePlaylist(text)
  }

  /** The playlist, as soon as it has a segment, however far ahead that is now. */
  async playlistWith(sequence: number): Promise<Playlist> {
    for (;;) {
      const playlist = await this.playlist()
      const last = playlist.segments.findLast(({ uri }) => uri !== undefined)
      if (last !== undefined && last.sequence >= sequence) return playlist
      await Bun.sleep(10)
    }
  }

  get(file: string, options: RequestInit = {}): Promise<Response> {
    return fetch(new URL(file, this.mediaUrl), options)
  }

  async bytes(file: string): Promise<Uint8Array> {
    const response = await this.get(file)
    expect([file, response.status]).toEqual([file, 200])
    return response.bytes()
  }

  /** Every segment from now to the end of the broadcast, by blocking requests as a player sends them. */
  async *segments(): AsyncGenerator<PlaylistSegment & { readonly bytes: Uint8Array }> {
    let next = 0
    let playlist = await this.playlist()
    for (;;) {
      for (const segment of playlist.segments) {
        if (segment.uri === undefined || segment.sequence < next) continue
        next = segment.sequence + 1
        yield { ...segment, bytes: await this.bytes(segment.uri) }
      }
      if (playlist.hasEnded) return
      playlist = await this.playlist(`?_HLS_msn=${next}`)
    }
  }
}

/** What a publisher sends: pictures at 25 a second, in groups, and sound. */
export class TestPublisher {
  readonly client: RtmpClient
  readonly #group: number
  readonly #hasSound: boolean
  #frames = 0
  /** Milliseconds added to its timestamps. */
  offset = 0

  constructor(client: RtmpClient, { group = 50, hasSound = true } = {}) {
    this.client = client
    this.#group = group
    this.#hasSound = hasSound
    client.video(0, AVC.header)
    if (hasSound) client.audio(0, AAC.header)
  }

  static async start(
    { rtmpPort, key }: { rtmpPort: number | undefined; key: string },
    options: { group?: number; hasSound?: boolean } = {},
  ): Promise<TestPublisher> {
    const client = await RtmpClient.connect(rtmpPort ?? 0)
    expect(await client.publish(key)).toBe('NetStream.Publish.Start')
    return new TestPublisher(client, options)
  }

  get seconds(): number {
    return this.#frames / 25
  }

  /** Sends so much of the broadcast at once. */
  send(seconds: number, bytes = 200): void {
    for (let frame = 0; frame < Math.round(seconds * 25); frame++) {
      const time = this.#frames * 40
      const isKey = this.#frames % this.#group === 0
      this.client.video(time + this.offset, isKey ? AVC.keyFrame(bytes) : AVC.frame(bytes))
      // The frames of sound that begin within this picture.
      if (this.#hasSound)
        for (let sound = Math.ceil((time * 44.1) / 1024); (sound * 1024) / 44.1 < time + 40; sound++)
          this.client.audio(Math.round((sound * 1024) / 44.1) + this.offset, AAC.frame())
      this.#frames += 1
    }
  }

  close(): void {
    this.client.close()
  }
}
