import { problem, raise } from '../contract/problem.ts'

/** A body must be there within this time, however it drips. */
const BODY_MILLISECONDS = 10_000

/** Reads a body. A client that hangs up in the middle, or takes for ever, has sent a malformed one. */
export async function readBody(request: Request, limit: number): Promise<Uint8Array> {
  let timer: Timer | undefined
  const tooSlow = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(problem('malformed_json')), BODY_MILLISECONDS)
  })
  try {
    return await Promise.race([readAtMost(request, limit), tooSlow])
  } catch (error) {
    return request.signal.aborted ? raise('malformed_json') : Promise.reject(error)
  } finally {
    clearTimeout(timer)
  }
}

/** Reads at most `limit` bytes. A larger one is refused as soon as that is known, and not read to its end. */
async function readAtMost(request: Request, limit: number): Promise<Uint8Array> {
  if (request.body === null) return new Uint8Array()
  const announced = Number(request.headers.get('content-length') ?? 0)
  if (announced > limit) raise('body_too_large', limit)
  if (announced > 0) return new Uint8Array(await request.arrayBuffer())
  const chunks: Uint8Array[] = []
  let size = 0
  const reader = request.body.getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return Buffer.concat(chunks)
    size += value.length
    if (size > limit) {
      await reader.cancel()
      raise('body_too_large', limit)
    }
    chunks.push(value)
  }
}
