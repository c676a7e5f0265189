import { HttpConnection } from './connections.ts'

const PART = /#EXT-X-PART:[^\n]*URI="([0-9]+)\.([0-9]+)\.m4s"/g

/**
 * Players of low-latency HLS: each asks for the playlist with the next part, which waits for it, and then for the parts that
 * it does not have, over one connection. What they get is counted and thrown away.
 */
export class HlsViewers {
  readonly #playlist: URL
  readonly #connections: HttpConnection[] = []
  #isOver = false
  /** Of all: bytes of video, requests, and answers that were not 200. */
  readonly total = { bytes: 0, requests: 0, failed: 0 }

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
    const connection = await HttpConnection.open(this.#playlist)
    this.#connections.push(connection)
    this.#watch(connection).catch(() => {
      if (!this.#isOver) this.total.failed += 1
    })
  }

  stop(): void {
    this.#isOver = true
    for (const connection of this.#connections) connection.close()
  }

  async #watch(connection: HttpConnection): Promise<void> {
    let last: readonly [sequence: number, part: number] | undefined
    while (!this.#isOver) {
      const next = last === undefined ? '' : `?_HLS_msn=${last[0]}&_HLS_part=${last[1] + 1}`
      const playlist = (await this.#ask(connection, this.#playlist.pathname + next)).text()
      const listed = [...playlist.matchAll(PART)].map(
        ([, sequence, part]) => [Number(sequence), Number(part)] as const,
      )
      // Of the first playlist only the last part.
      const [lastSequence = -1, lastPart = -1] = last ?? listed.at(-2) ?? []
      for (const [sequence, part] of listed) {
        if (sequence < lastSequence || (sequence === lastSequence && part <= lastPart)) continue
        const { pathname } = new URL(`${sequence}.${part}.m4s`, this.#playlist)
        const { bytes } = await this.#ask(connection, pathname)
        this.total.bytes += bytes
      }
      last = listed.at(-1) ?? last
    }
  }

  async #ask(connection: HttpConnection, path: string) {
    this.total.requests += 1
    const answer = await connection.ask(
      Buffer.from(`GET ${path} HTTP/1.1\r\nHost: ${this.#playlist.host}\r\n\r\n`),
    )
    if (answer.status !== 200) this.total.failed += 1
    return answer
  }
}
