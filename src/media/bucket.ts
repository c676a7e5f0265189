/**
 * A bucket of an S3-compatible server (D-263). Objects are written in parts, so that a server which stops answering is noticed
 * after one of them. All other requests have signed URLs and a deadline.
 *
 * Errors name what the server answered, never a URL: a signed one is a secret for an hour.
 */
import type { BunFile } from 'bun'
import { withTimeout } from '../kit/time/with-timeout.ts'

export interface BucketOptions {
  readonly endpoint: string
  readonly bucket: string
  readonly region: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
  /** Where everyone can read the objects. Undefined: viewers get signed URLs. */
  readonly publicUrl?: string | undefined
  /** For one part, or for the answer to another request. */
  readonly partMilliseconds?: number
  readonly answerMilliseconds?: number
}

/** What the settings name; undefined if there is no object storage. */
export function toBucketOptions(
  settings: Partial<
    Record<'endpoint' | 'bucket' | 'accessKeyId' | 'secretAccessKey' | 'publicUrl', string | undefined>
  > & {
    readonly region: string
  },
): BucketOptions | undefined {
  const { endpoint, bucket, accessKeyId, secretAccessKey } = settings
  if (!(endpoint && bucket && accessKeyId && secretAccessKey)) return undefined
  return { ...settings, endpoint, bucket, accessKeyId, secretAccessKey }
}

type Method = 'GET' | 'HEAD' | 'PUT' | 'DELETE'

const SIGNED_SECONDS = 3600
const PART_BYTES = 8 * 1024 * 1024
/** Servers accept 10,000. */
const MAX_PARTS = 9000
const PART_MILLISECONDS = 120_000
const ANSWER_MILLISECONDS = 10_000
const MAX_ERROR_BYTES = 4096

/** The name of the object of a recording, or of one of its files if several nodes have one. */
export const objectKey = ({
  video_id,
  part,
}: {
  readonly video_id: string
  readonly part: number
}): string => (part === 1 ? `${video_id}.mp4` : `${video_id}-${part}.mp4`)

class BucketError extends Error {
  override readonly name = 'BucketError'
}

export class Bucket {
  readonly #options: BucketOptions
  readonly #client: Bun.S3Client

  constructor(options: BucketOptions) {
    this.#options = options
    const { endpoint, bucket, region, accessKeyId, secretAccessKey } = options
    this.#client = new Bun.S3Client({ endpoint, bucket, region, accessKeyId, secretAccessKey })
  }

  /** URLs whose origins viewers read from. */
  get urls(): readonly string[] {
    const { endpoint, publicUrl } = this.#options
    return publicUrl === undefined ? [endpoint] : [endpoint, publicUrl]
  }

  /** Where a viewer reads an object. Only a signed URL can give it the name of a download. */
  viewerUrl(key: string, method: 'GET' | 'HEAD', contentDisposition?: string): string {
    const { publicUrl } = this.#options
    if (publicUrl !== undefined && contentDisposition === undefined) return `${publicUrl}/${key}`
    return this.#sign(key, method, contentDisposition)
  }

  /** Uploads a file. The object exists when this resolves, or not at all. */
  async upload(key: string, file: BunFile, type: string, signal: AbortSignal): Promise<void> {
    const { partMilliseconds = PART_MILLISECONDS } = this.#options
    const { size } = file
    const partSize = Math.max(PART_BYTES, Math.ceil(size / MAX_PARTS))
    const writer = this.#client.file(key).writer({ partSize, queueSize: 1, retry: 1, type })
    const sendPart = async (work: number | Promise<number>) => {
      const stopped = Promise.withResolvers<never>()
      const stop = () => stopped.reject(new BucketError('the upload was stopped'))
      signal.addEventListener('abort', stop)
      if (signal.aborted) stop()
      try {
        const done = Promise.race([Promise.resolve(work).then(() => true), stopped.promise])
        if (await withTimeout(partMilliseconds, done, () => false)) return
      } finally {
        signal.removeEventListener('abort', stop)
      }
      throw new BucketError(`the server took no part of an upload for ${partMilliseconds / 1000} s`)
    }
    try {
      for (let at = 0; at < size; at += partSize) {
        writer.write(await file.slice(at, Math.min(at + partSize, size)).arrayBuffer())
        await sendPart(writer.flush())
      }
      await sendPart(writer.end())
    } catch (error) {
      // The server forgets the parts, if it answers.
      void Promise.resolve(writer.end(error as Error)).catch(() => undefined)
      throw explain(error)
    }
  }

  /** The size of an object; undefined if there is none. */
  async size(key: string): Promise<number | undefined> {
    const response = await this.#request(key, 'HEAD')
    if (response.status === 404) return undefined
    await requireOk(response)
    return Number(response.headers.get('content-length'))
  }

  /** Deletes an object, if there is one. */
  async remove(key: string): Promise<void> {
    const response = await this.#request(key, 'DELETE')
    if (response.status !== 404) await requireOk(response)
  }

  async put(key: string, body: string): Promise<void> {
    await requireOk(await this.#request(key, 'PUT', { body }))
  }

  /** The answer to a page of an origin that reads a range of an object, as players do. */
  async read(key: string, headers: Readonly<Record<string, string>>): Promise<Response> {
    const response = await this.#request(key, 'GET', { headers })
    await requireOk(response)
    return response
  }

  #sign(key: string, method: Method, contentDisposition?: string): string {
    return this.#client.presign(key, {
      method,
      expiresIn: SIGNED_SECONDS,
      ...(contentDisposition !== undefined && { contentDisposition }),
    })
  }

  async #request(key: string, method: Method, init: RequestInit = {}): Promise<Response> {
    const { answerMilliseconds = ANSWER_MILLISECONDS } = this.#options
    const signal = AbortSignal.timeout(answerMilliseconds)
    try {
      return await fetch(this.#sign(key, method), { ...init, method, signal, redirect: 'manual' })
    } catch (error) {
      throw explain(error)
    }
  }
}

async function requireOk(response: Response): Promise<void> {
  if (response.ok) return
  const text = (await response.text().catch(() => '')).slice(0, MAX_ERROR_BYTES)
  const code = /<Code>([A-Za-z]{1,80})<\/Code>/.exec(text)?.[1]
  throw new BucketError(`the server answered ${response.status}${code === undefined ? '' : ` ${code}`}`)
}

/** What failed, without the message of the runtime, which may have a URL. A file that is gone is not the server's doing. */
function explain(error: unknown): unknown {
  if (error instanceof BucketError) return error
  const { name, code } = error as { name?: string; code?: string }
  if (code === 'ENOENT') return error
  if (name === 'TimeoutError') return new BucketError('the server did not answer in time')
  return new BucketError(`the request failed: ${code ?? name ?? 'unknown'}`)
}
