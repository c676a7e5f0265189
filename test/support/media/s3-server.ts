/** An S3-compatible server that we did not write, behind a proxy that delays, cuts and fails requests. */
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import S3rver from 's3rver'
import type { BucketOptions } from '../../../src/media/bucket.ts'

/** What becomes of a request: it is answered with an error, never, or its connection is cut after some of its body. */
export type Fault = 'fail' | 'hang' | 'cut' | 'slow' | undefined

const KEY = 'S3RVER'
const BUCKET = 'recordings'
const SLOW_MILLISECONDS = 500

/** A rule that lets every page read. */
const CORS = `<CORSConfiguration><CORSRule><AllowedOrigin>*</AllowedOrigin><AllowedMethod>GET</AllowedMethod>
  <AllowedMethod>HEAD</AllowedMethod><AllowedHeader>*</AllowedHeader><ExposeHeader>Content-Range</ExposeHeader>
  <ExposeHeader>Content-Length</ExposeHeader></CORSRule></CORSConfiguration>`

export class S3Server {
  /** Decides about each request, by method and URL. */
  fault: (method: string, url: URL) => Fault = () => undefined
  /** Method and path of each request, in the order in which they came. */
  readonly requests: string[] = []
  readonly #server: S3rver
  readonly #proxy = createServer((incoming, answer) => this.#pass(incoming, answer))
  readonly #sockets = new Set<Socket>()
  readonly #folder: string
  #port = 0
  #proxyPort = 0

  private constructor(folder: string, cors: string | undefined) {
    this.#folder = folder
    this.#server = new S3rver({
      ...{ port: 0, address: '127.0.0.1', silent: true, directory: folder },
      configureBuckets: [{ name: BUCKET, configs: cors === undefined ? [] : [cors] }],
    })
    this.#proxy.on('connection', socket => {
      this.#sockets.add(socket)
      socket.on('close', () => this.#sockets.delete(socket))
    })
  }

  static async start({ cors }: { cors?: string | undefined } = { cors: CORS }): Promise<S3Server> {
    const server = new S3Server(mkdtempSync(join(tmpdir(), 'strand-s3-')), cors)
    server.#port = (await server.#server.run()).port
    await server.listen()
    return server
  }

  /** Listens, again after `leave`, on the same port. */
  async listen(): Promise<void> {
    await new Promise<void>(resolve => this.#proxy.listen(this.#proxyPort, '127.0.0.1', resolve))
    this.#proxyPort = (this.#proxy.address() as AddressInfo).port
  }

  /** Nothing listens any more. */
  async leave(): Promise<void> {
    const closed = new Promise(resolve => this.#proxy.close(resolve))
    for (const socket of this.#sockets) socket.destroy()
    await closed
  }

  async stop(): Promise<void> {
    await this.leave()
    await this.#server.close()
    rmSync(this.#folder, { recursive: true, force: true })
  }

  get options(): BucketOptions {
    return {
      endpoint: `http://127.0.0.1:${this.#proxyPort}`,
      ...{ bucket: BUCKET, region: 'us-east-1', accessKeyId: KEY, secretAccessKey: KEY },
    }
  }

  /** The settings of a process that uses it. */
  get environment(): Record<string, string> {
    const { endpoint, bucket, accessKeyId, secretAccessKey } = this.options
    return {
      STRAND_S3_ENDPOINT: endpoint,
      STRAND_S3_BUCKET: bucket,
      STRAND_S3_ACCESS_KEY_ID: accessKeyId,
      STRAND_S3_SECRET_ACCESS_KEY: secretAccessKey,
    }
  }

  /** Past the proxy. */
  get #client(): Bun.S3Client {
    return new Bun.S3Client({ ...this.options, endpoint: `http://127.0.0.1:${this.#port}` })
  }

  async keys(): Promise<string[]> {
    const { contents = [] } = await this.#client.list()
    return contents.map(({ key }) => key).sort()
  }

  async read(key: string): Promise<Buffer> {
    return Buffer.from(await this.#client.file(key).arrayBuffer())
  }

  async write(key: string, bytes: Uint8Array): Promise<void> {
    await this.#client.write(key, bytes)
  }

  #pass(incoming: IncomingMessage, answer: ServerResponse): void {
    const { method = '', url = '', headers } = incoming
    this.requests.push(`${method} ${url.split('?')[0]}`)
    const fault = this.fault(method, new URL(url, 'http://proxy'))
    if (fault === 'hang') return
    if (fault === 'cut') {
      // A request without a body is cut before its answer.
      if (method === 'GET' || method === 'HEAD' || method === 'DELETE') incoming.socket.destroy()
      incoming.once('data', () => incoming.socket.destroy())
      return
    }
    if (fault === 'fail') {
      incoming.resume()
      incoming.on('end', () => {
        answer.writeHead(500, { 'Content-Type': 'application/xml' })
        answer.end('<Error><Code>InternalError</Code><Message>planned</Message></Error>')
      })
      return
    }
    setTimeout(
      () => {
        const outgoing = request(
          { host: '127.0.0.1', port: this.#port, path: url, method, headers },
          received => {
            answer.writeHead(received.statusCode ?? 502, received.headers)
            received.pipe(answer)
          },
        )
        outgoing.on('error', () => incoming.socket.destroy())
        incoming.pipe(outgoing)
      },
      fault === 'slow' ? SLOW_MILLISECONDS : 0,
    )
  }
}
