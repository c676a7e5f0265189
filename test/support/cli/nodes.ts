/** Nodes as they run behind a proxy: `strand serve` processes on one PostgreSQL, with the same secrets. */
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { Cable } from '../proxies/cable.ts'
import { createStorePlace, type StorePlace } from '../server.ts'
import { freePort } from '../store/postgres.ts'
import { StrandProcess } from './strand-process.ts'

/** PostgreSQL may be slow to answer on a busy machine. */
export const STORE_WAIT = { STRAND_STORE_WAIT_SECONDS: '60' }

/** Shorter than one would choose, so that the proxies have to be quick. */
const DRAIN_SECONDS = 3

export class Node {
  readonly port: number
  readonly #operatorPort: number
  readonly #environment: Readonly<Record<string, string>>
  /** One process after the other; each keeps what it has logged. */
  readonly #processes: StrandProcess[] = []

  constructor(port: number, operatorPort: number, environment: Readonly<Record<string, string>>) {
    this.port = port
    this.#operatorPort = operatorPort
    this.#environment = {
      ...STORE_WAIT,
      ...environment,
      STRAND_LISTEN: `127.0.0.1:${port}`,
      STRAND_OPERATOR_LISTEN: `127.0.0.1:${operatorPort}`,
    }
  }

  get environment(): Readonly<Record<string, string>> {
    return this.#environment
  }

  /** Where encoders publish, if it has an embedded media server. */
  get rtmpPort(): number {
    return Number(this.#environment.STRAND_RTMP_LISTEN?.split(':')[1])
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`
  }

  /** Stops the process as a machine that hangs, or lets it continue. */
  pause(signal: 'SIGSTOP' | 'SIGCONT'): void {
    const running = this.#processes.at(-1)
    if (running !== undefined) process.kill(running.pid, signal)
  }

  get pid(): number {
    return this.#processes.at(-1)?.pid ?? 0
  }

  /** Starts it, and waits until it reports that it is ready. */
  async start(command?: readonly string[]): Promise<void> {
    const strand = new StrandProcess(['serve'], {
      environment: this.#environment,
      ...(command && { command }),
    })
    this.#processes.push(strand)
    await strand.serving()
    while (!(await this.isReady())) await Bun.sleep(20)
  }

  /** Gives the exit code. */
  async stop(signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<number> {
    return (await this.#processes.at(-1)?.end(signal)) ?? 0
  }

  async isReady(): Promise<boolean> {
    const headers = { Connection: 'close' }
    return fetch(`http://127.0.0.1:${this.port}/readyz`, { headers }).then(
      answer => answer.ok,
      () => false,
    )
  }

  /** Waits until a proxy passes requests on to this node: it may not have noticed yet that the node is ready. */
  async untilBehind({ url }: { readonly url: string }): Promise<void> {
    const mark = `behind-${randomBytes(8).toString('hex')}`
    while (!this.#processes.at(-1)?.stderr.includes(mark)) {
      const headers = { 'X-Request-Id': mark, Connection: 'close' }
      await fetch(`${url}/helix/streams?first=1`, { headers }).then(
        answer => answer.text(),
        () => undefined,
      )
      await Bun.sleep(50)
    }
  }

  /** How many requests of this operation it has answered, by its log. */
  answered(operation: string): number {
    return this.#processes
      .map(({ stderr }) => stderr.split(`"operation":"${operation}"`).length - 1)
      .reduce(sum, 0)
  }

  /** A control call that must succeed; gives the first row. */
  // biome-ignore lint/suspicious/noExplicitAny: a body is whatever the server sent; tests look into it freely
  async control(method: string, path: string, body?: unknown): Promise<any> {
    const answer = await fetch(`http://127.0.0.1:${this.#operatorPort}/control${path}`, {
      method,
      headers: { Authorization: `Bearer ${this.#environment.STRAND_OPERATOR_TOKEN}`, Connection: 'close' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${text}`)
    return text === '' ? undefined : JSON.parse(text).data[0]
  }
}

const sum = (one: number, other: number) => one + other

export interface TwoNodes {
  readonly place: StorePlace
  /** Between each node and PostgreSQL. */
  readonly cables: readonly [Cable, Cable]
  readonly nodes: readonly [Node, Node]
}

/** Two nodes on a fresh database; with `receive` they have embedded media servers. */
export async function startTwoNodes(
  settings: Readonly<Record<string, string>> = {},
  { receive = false } = {},
): Promise<TwoNodes> {
  const place = await createStorePlace('postgres')
  const url = new URL(place.databaseUrl ?? '')
  const layCable = () => Cable.to(url.hostname, Number(url.port))
  const cables = [await layCable(), await layCable()] as const
  const same = {
    STRAND_OPERATOR_TOKEN: 'an-operator-token-for-these-tests',
    STRAND_MASTER_KEYS: `test:${randomBytes(32).toString('base64')}`,
    STRAND_PUBLIC_URL: 'https://api.example.org',
    STRAND_TRUSTED_PROXIES: '127.0.0.1',
    STRAND_DRAIN_SECONDS: String(DRAIN_SECONDS),
    STRAND_RATE_APP: '0',
    STRAND_RATE_USER: '0',
    STRAND_RATE_ANONYMOUS: '0',
    STRAND_LOG: 'debug',
    ...settings,
  }
  const make = async (name: string, { port }: Cable) => {
    const DATABASE_URL = Object.assign(new URL(url), { port: String(port) }).href
    const httpPort = await freePort()
    return new Node(httpPort, await freePort(), {
      ...same,
      ...(receive && {
        STRAND_RTMP_LISTEN: `127.0.0.1:${await freePort()}`,
        STRAND_MEDIA_URL: `http://127.0.0.1:${httpPort}`,
      }),
      DATABASE_URL,
      STRAND_DATA: join(place.folder, name),
    })
  }
  const nodes = [await make('one', cables[0]), await make('two', cables[1])] as const
  await Promise.all(nodes.map(node => node.start()))
  return { place, cables, nodes }
}
