import { problem, raise } from '../../contract/problem.ts'
import { BodyTooLarge, bodyPieces, readBody } from '../../kit/read-body.ts'

/** Deadline for the whole body, even if it trickles in. */
const BODY_MILLISECONDS = 10_000

/** Reads the body of an API request. A truncated or too slow body counts as malformed. */
export async function readApiBody(request: Request, limit: number): Promise<Uint8Array> {
  const read = await readBody(request, { bytes: limit, milliseconds: BODY_MILLISECONDS })
  switch (read.outcome) {
    case 'complete':
      return read.bytes
    case 'too_large':
      return raise('body_too_large', limit)
    default:
      return raise('malformed_json')
  }
}

/** Yields a body of lines as it arrives. */
export async function* readApiPieces(request: Request, limit: number): AsyncGenerator<Uint8Array> {
  try {
    yield* bodyPieces(request, limit)
  } catch (error) {
    throw error instanceof BodyTooLarge ? problem('body_too_large', limit) : error
  }
}
