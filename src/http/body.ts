import { problem, raise } from '../contract/problem.ts'
import { BodyTooLarge, bodyPieces, readBody } from '../kit/read-body.ts'

/** A body must be there within this time, however it drips. */
const BODY_MILLISECONDS = 10_000

/** The body of an API request. One that was cut off, or takes for ever, is malformed. */
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

/** A body of lines, as it arrives. */
export async function* readApiPieces(request: Request, limit: number): AsyncGenerator<Uint8Array> {
  try {
    yield* bodyPieces(request, limit)
  } catch (error) {
    throw error instanceof BodyTooLarge ? problem('body_too_large', limit) : error
  }
}
