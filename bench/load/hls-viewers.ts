/**
 * Players of low-latency HLS: each asks for the playlist with the next part, which waits for it, and then for the parts that
 * it does not have, over one connection. What they get is counted and thrown away.
 */
import type { Socket } from 'bun'

const PART = /#EXT-X-PART:[^\n]*URI="([0-9]+)\.([0-9]+)\.m4s"/g
const HEADERS_END = '\r\n\r\n'
const NO_BYTES = Buffer.alloc(0)

export class HlsViewers {
  readonly #playlist: URL
  readonly #viewers: Viewer[] = []

  private constructor(playlist: URL) {
    this.#playlist = playlist
  }

  /** Opens the broadcast of a channel as soon as it is live. */
  static async open(url: string, login: string): Promise<HlsViewers> {
    for (;;) {
      const multivariant = new URL(`/live/${login}.m3u8`, url)
      const answer = await fetch(multivariant)
      const text = await answer.text()
      if (answer.ok) return new HlsViewers(new URL(text.trim().split('\n').at(-1) ?? '', multivariant))
      await Bun.sleep(50)
    }
  }

  async add(): Promise<void> {
    this.#viewers.push(await Viewer.connect(this.#playlist))
  }

  /** Bytes of video that all of them have got, requests, and answers that were not 200. */
  get total(): { bytes: number; requests: number; failed: number } {
    const sum = (value: (viewer: Viewer) => number) =>
      this.#viewers.reduce((total, viewer) => total + value(viewer), 0)
    return {
      bytes: sum(each => each.bytes),
      requests: sum(each => each.requests),
      failed: sum(each => each.failed),
    }
  }

  stop(): void {
    for (const viewer of this.#viewers) viewer.stop()
  }
}

class Viewer {
  readonly #playlist: URL
  #socket: Socket | undefined
  #isPlaylist = true
  #text = ''
  /** The start of headers that are not complete. */
  #headers: Buffer = NO_BYTES
  /** Of the body; undefined while the headers are read. */
  #missing: number | undefined
  #last: readonly [sequence: number, part: number] | undefined
  #parts: string[] = []
  bytes = 0
  requests = 0
  failed = 0

  private constructor(playlist: URL) {
    this.#playlist = playlist
  }

  static async connect(playlist: URL): Promise<Viewer> {
    const viewer = new Viewer(playlist)
    viewer.#socket = await Bun.connect({
      hostname: playlist.hostname,
      port: Number(playlist.port),
      socket: { data: (_, bytes) => viewer.#receive(bytes), close: () => undefined },
    })
    viewer.#askPlaylist()
    return viewer
  }

  stop(): void {
    this.#socket?.end()
  }

  #ask(path: string): void {
    this.requests += 1
    this.#socket?.write(`GET ${path} HTTP/1.1\r\nHost: ${this.#playlist.host}\r\n\r\n`)
  }

  #askPlaylist(): void {
    this.#isPlaylist = true
    const [sequence, part] = this.#last ?? []
    const next =
      sequence === undefined || part === undefined ? '' : `?_HLS_msn=${sequence}&_HLS_part=${part + 1}`
    this.#ask(this.#playlist.pathname + next)
  }

  #receive(bytes: Buffer): void {
    let body = bytes
    if (this.#missing === undefined) {
      const start = this.#headers.length === 0 ? bytes : Buffer.concat([this.#headers, bytes])
      const end = start.indexOf(HEADERS_END)
      this.#headers = end < 0 ? Buffer.from(start) : NO_BYTES
      if (end < 0) return
      const headers = start.toString('latin1', 0, end)
      if (!headers.startsWith('HTTP/1.1 200')) this.failed += 1
      this.#missing = Number(/content-length: ([0-9]+)/i.exec(headers)?.[1])
      body = start.subarray(end + HEADERS_END.length)
    }
    this.#missing -= body.length
    if (this.#isPlaylist) this.#text += body.toString('latin1')
    else this.bytes += body.length
    if (this.#missing > 0) return
    this.#missing = undefined
    if (this.#isPlaylist) this.#readPlaylist()
    const name = this.#parts.shift()
    if (name === undefined) this.#askPlaylist()
    else {
      this.#isPlaylist = false
      this.#ask(new URL(name, this.#playlist).pathname)
    }
  }

  /** The parts that are new; of the first playlist the last one. */
  #readPlaylist(): void {
    const listed = [...this.#text.matchAll(PART)].map(
      ([, sequence, part]) => [Number(sequence), Number(part)] as const,
    )
    this.#text = ''
    const [lastSequence = -1, lastPart = -1] = this.#last ?? listed.at(-2) ?? []
    const isNew = ([sequence, part]: readonly [number, number]) =>
      sequence > lastSequence || (sequence === lastSequence && part > lastPart)
    this.#parts = listed.filter(isNew).map(([sequence, part]) => `${sequence}.${part}.m4s`)
    this.#last = listed.at(-1) ?? this.#last
  }
}
