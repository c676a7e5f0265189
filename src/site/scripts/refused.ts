import { StrandError } from '../../client/index.ts'

/** Whether the API refused a call: the input was wrong, or there is no such thing. */
export function isRefused(error: unknown): error is StrandError {
  return error instanceof StrandError && error.status >= 400 && error.status < 500
}

/** What calls of the API return, or something else if one is refused. */
export async function unlessRefused<T, U>(otherwise: U, call: () => Promise<T>): Promise<T | U> {
  try {
    return await call()
  } catch (error) {
    if (isRefused(error)) return otherwise
    throw error
  }
}
