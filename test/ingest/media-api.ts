/** The API of an nginx-rtmp that exists only as a list of its publishers. */
export interface FakePublisher {
  readonly session: string
  readonly login: string
  readonly viewers?: number
}

export class FakeNginx {
  publishers: FakePublisher[] = []
  isDown = false
  /** How often its publishers were asked for. */
  polls = 0
  /** Answers about publishers wait for this, and are then as old as the question. */
  held: Promise<void> | undefined
  readonly dropped: string[] = []
  readonly #server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: async request => {
      const url = new URL(request.url)
      if (this.isDown) return new Response('down', { status: 500 })
      if (url.pathname === '/stat') {
        this.polls += 1
        const statistics = this.#statistics()
        await this.held
        return new Response(statistics)
      }
      const name = url.searchParams.get('name') ?? ''
      this.dropped.push(name)
      this.publishers = this.publishers.filter(({ login }) => login !== name)
      return new Response('1')
    },
  })

  get url(): string {
    return `http://127.0.0.1:${this.#server.port}`
  }

  async stop(): Promise<void> {
    await this.#server.stop(true)
  }

  #statistics(): string {
    const streams = (inner: (publisher: FakePublisher) => string) =>
      this.publishers.map(each => `<stream><name>${each.login}</name>${inner(each)}</stream>`).join('')
    const ingest = streams(({ session }) => `<client><id>${session}</id><publishing/></client>`)
    const show = streams(({ viewers = 0 }) =>
      Array.from({ length: viewers }, (_, index) => `<client><id>v${index}</id></client>`).join(''),
    )
    return `<rtmp><server><application><name>live</name><live>${ingest}</live></application>
      <application><name>show</name><live>${show}</live></application></server></rtmp>`
  }
}
