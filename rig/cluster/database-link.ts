import { connect as connectTo, createServer, type Server, type Socket } from 'node:net'

/** What a link does with bytes: everything, nothing, or only what goes towards the database. */
export type Passage = 'open' | 'cut' | 'answers cut'

/**
 * The wire between one Strand node and one PostgreSQL server. A cut link loses nothing and closes nothing: bytes wait, as
 * they would in the buffers of a network that drops packets, and arrive when it is open again. One thing differs from a
 * network: a new connection is taken even while the link is cut, and only then hears nothing.
 */
export class DatabaseLink {
  readonly #server: Server
  readonly #pairs = new Set<{ readonly node: Socket; readonly database: Socket }>()
  readonly #target: () => number
  #waiting: Socket[] = []
  #passage: Passage = 'open'

  private constructor(target: () => number) {
    this.#target = target
    this.#server = createServer({ pauseOnConnect: true }, node => this.#startupMessage(node))
  }

  /** `target` gives the port to connect to, looked up for each connection. */
  static async open(target: () => number): Promise<DatabaseLink> {
    const link = new DatabaseLink(target)
    await new Promise<void>(resolve => link.#server.listen(0, '127.0.0.1', resolve))
    return link
  }

  get port(): number {
    const address = this.#server.address()
    return typeof address === 'object' && address !== null ? address.port : 0
  }

  set(passage: Passage): void {
    this.#passage = passage
    for (const pair of this.#pairs) this.#apply(pair)
    if (passage === 'cut') return
    const waiting = this.#waiting
    this.#waiting = []
    for (const node of waiting) this.#join(node)
  }

  close(): void {
    this.#server.close()
    for (const { node, database } of this.#pairs) {
      node.destroy()
      database.destroy()
    }
    for (const node of this.#waiting) node.destroy()
  }

  #startupMessage(node: Socket): void {
    node.on('error', () => node.destroy())
    if (this.#passage === 'cut') this.#waiting.push(node)
    else this.#join(node)
  }

  #join(node: Socket): void {
    if (node.destroyed) return
    const database = connectTo(this.#target(), '127.0.0.1')
    const pair = { node, database }
    this.#pairs.add(pair)
    const part = () => {
      this.#pairs.delete(pair)
      node.destroy()
      database.destroy()
    }
    for (const socket of [node, database]) {
      socket.setNoDelay(true)
      socket.on('error', part)
      socket.on('close', part)
    }
    node.on('data', bytes => database.write(bytes))
    database.on('data', bytes => node.write(bytes))
    this.#apply(pair)
  }

  #apply({ node, database }: { node: Socket; database: Socket }): void {
    if (this.#passage === 'cut') node.pause()
    else node.resume()
    if (this.#passage === 'open') database.resume()
    else database.pause()
  }
}
