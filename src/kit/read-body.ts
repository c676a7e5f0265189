/**
 * The only code that reads request bodies. It holds at most `limit` bytes of a body in memory. A body that is too large, too
 * slow or cut off is an outcome, not an error; the caller decides how to answer.
 *
 * The rest of a rejected body needs no handling. The runtime buffers no more than a socket buffer of an unread body, and
 * discards what arrives after the answer. Those bytes do not reset the idle timeout, so the connection is closed then.
 */
export interface BodyLimits {
  readonly bytes: number
  /** Maximum time for the whole body. */
  readonly milliseconds: number
}

export type ReadBody =
  | { readonly outcome: 'complete'; readonly bytes: Uint8Array }
  | { readonly outcome: 'too_large' | 'too_slow' | 'cut_off' }

const NO_BYTES = new Uint8Array()

export async function readBody(request: Request, limits: BodyLimits): Promise<ReadBody> {
  const announced = announcedBytes(request)
  if (announced > limits.bytes) return { outcome: 'too_large' }
  // Only a body of unknown length is read as a stream: making one costs as much as reading a short body.
  const body = announced > 0 ? null : request.body
  if (announced === 0 && body === null) return { outcome: 'complete', bytes: NO_BYTES }
  let timer: Timer | undefined
  const deadline = new Promise<ReadBody>(resolve => {
    timer = setTimeout(resolve, limits.milliseconds, { outcome: 'too_slow' })
  })
  // The runtime reads no more than the announced length, and buffering costs a third of reading in pieces.
  const read = body === null ? buffer(request, limits.bytes) : gather(body, limits.bytes, deadline)
  try {
    return await Promise.race([read, deadline])
  } finally {
    clearTimeout(timer)
  }
}

/** Zero for a chunked body. The runtime rejects requests that announce both. */
function announcedBytes({ headers }: Request): number {
  return Number(headers.get('content-length') ?? 0)
}

async function buffer(request: Request, limit: number): Promise<ReadBody> {
  try {
    const bytes = new Uint8Array(await request.arrayBuffer())
    return bytes.length > limit ? { outcome: 'too_large' } : { outcome: 'complete', bytes }
  } catch {
    return { outcome: 'cut_off' }
  }
}

async function gather(
  body: ReadableStream<Uint8Array>,
  limit: number,
  deadline: Promise<unknown>,
): Promise<ReadBody> {
  const reader = body.getReader()
  const chunks: Uint8Array[] = []
  let size = 0
  void deadline.then(() => reader.cancel().catch(() => undefined))
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return { outcome: 'complete', bytes: Buffer.concat(chunks) }
      size += value.length
      if (size > limit) {
        // Frees the memory before the answer is sent.
        chunks.length = 0
        await reader.cancel()
        return { outcome: 'too_large' }
      }
      chunks.push(value)
    }
  } catch {
    return { outcome: 'cut_off' }
  }
}

export class BodyTooLarge extends Error {
  override readonly name = 'BodyTooLarge'
}

/**
 * A body as a stream of pieces, never held as a whole. Throws `BodyTooLarge` beyond the limit, and the runtime's error if the
 * sender disconnects.
 */
export async function* bodyPieces(request: Request, limit: number): AsyncGenerator<Uint8Array> {
  const { body } = request
  if (body === null) return
  if (announcedBytes(request) > limit) throw new BodyTooLarge()
  let size = 0
  for await (const piece of body) {
    size += piece.length
    if (size > limit) throw new BodyTooLarge()
    yield piece
  }
}
