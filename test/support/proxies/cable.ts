import { connect, createServer, type Server, type Socket } from 'node:net'
import { createStorePlace } from '../server.ts'

/** A TCP connection to a server that can be cut, or plugged up, so that nothing comes through while it stays open. */
export class Cable {
  readonly #server: Server
  readonly #ends = new Set<Socket>()
  readonly #target: { host: string; port: number }
  #mode: 'through' | 'cut' | 'plugged' = 'through'
  #delayMilliseconds = 0

  private constructor(target: { host: string; port: number }) {
    this.#target = target
    this.#server = createServer(near => this.#join(near))
  }

  static async to(host: string, port: number): Promise<Cable> {
    const cable = new Cable({ host, port })
    await new Promise<void>(resolve => cable.#server.listen(0, '127.0.0.1', resolve))
    return cable
  }

  get port(): number {
    const address = this.#server.address()
    if (address === null || typeof address === 'string') throw new Error('the cable has no port')
    return address.port
  }

  /** Connections end, and new ones are refused. */
  cut(): void {
    this.#mode = 'cut'
    for (const end of this.#ends) end.destroy()
  }

  /** Nothing comes through any more, and the connection stays open. */
  plug(): void {
    this.#mode = 'plugged'
  }

  /** Everything arrives so much later, as from a server on a busy machine. */
  delay(milliseconds: number): void {
    this.#delayMilliseconds = milliseconds
  }

  mend(): void {
    this.#mode = 'through'
  }

  async close(): Promise<void> {
    for (const end of this.#ends) end.destroy()
    await new Promise(resolve => this.#server.close(resolve))
  }

  #join(near: Socket): void {
    if (this.#mode === 'cut') return void near.destroy()
    const far = connect(this.#target)
    for (const [from, into] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#ends.add(from)
      from.on('data', bytes => {
        if (this.#mode !== 'through') return
        if (this.#delayMilliseconds === 0) into.write(bytes)
        else setTimeout(() => into.write(bytes), this.#delayMilliseconds)
      })
      from.on('error', () => into.destroy())
      from.on('close', () => {
        this.#ends.delete(from)
        into.destroy()
      })
    }
  }
}

/** A PostgreSQL database behind so many cables, each of which is another host for its clients. */
export async function behindCables(count: number) {
  const place = await createStorePlace('postgres')
  const url = new URL(place.databaseUrl ?? '')
  const cables = await Promise.all(
    Array.from({ length: count }, () => Cable.to(url.hostname, Number(url.port))),
  )
  const hosts = cables.map(cable => `127.0.0.1:${cable.port}`)
  return {
    cables,
    hosts,
    databaseUrl: (place.databaseUrl ?? '').replace(url.host, hosts.join(',')),
    remove: async () => {
      await Promise.all(cables.map(cable => cable.close()))
      await place.remove()
    },
  }
}
