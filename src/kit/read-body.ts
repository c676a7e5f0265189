/**
 * The only code that reads request bodies: whatever is sent, a reader holds at most `limit` bytes of it in memory. A
 * sender that is too fast, too slow or gone is an outcome, not an error; the caller says what that means to its clients.
 *
 * Nothing has to be done about the rest of a body that was refused. The runtime holds no more than a socket buffer of a
 * body that is not read yet, and after the answer it discards what still arrives. Those bytes do not reset the idle
 * timeout, so the connection is closed after it.
 */
export interface BodyLimits {
  readonly bytes: number
  /** How long the whole body may take. */
  readonly milliseconds: number
}

export type ReadBody =
  | { readonly outcome: 'complete'; readonly bytes: Uint8Array }
  | { readonly outcome: 'too_large' | 'too_slow' | 'cut_off' }

const NO_BYTES = new Uint8Array()

export async function readBody(request: Request, limits: BodyLimits): Promise<ReadBody> {
  const { body } = request
  if (body === null) return { outcome: 'complete', bytes: NO_BYTES }
  const announced = announcedBytes(request)
  if (announced > limits.bytes) return { outcome: 'too_large' }
  let timer: Timer | undefined
  const deadline = new Promise<ReadBody>(resolve => {
    timer = setTimeout(resolve, limits.milliseconds, { outcome: 'too_slow' })
  })
  // The runtime reads no further than to an announced length, and buffering it costs a third of reading it in pieces.
  const read = announced > 0 ? buffer(request, limits.bytes) : gather(body, limits.bytes, deadline)
  try {
    return await Promise.race([read, deadline])
  } finally {
    clearTimeout(timer)
  }
}

/** Zero if the body comes in chunks. A request that announces both is refused by the runtime. */
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
        // Not kept until the sender has heard of it.
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
 * A body that is used piece by piece and never held as a whole. Throws `BodyTooLarge` past the limit, and whatever the
 * runtime throws when the sender goes away.
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
