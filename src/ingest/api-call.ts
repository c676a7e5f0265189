import type { ApiCall } from './adapters/adapter.ts'

const MAX_MILLISECONDS = 2000
const MAX_BYTES = 8 * 1024 * 1024

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ENOTFOUND: 'the host name is unknown',
}

/** The API of a media server did not answer as expected. */
class ApiFailure extends Error {
  override readonly name = 'ApiFailure'
}

export interface ApiResponse {
  readonly text: string
  /** The value of the header Date. */
  readonly date: string | null
}

/** Calls the API of a media server at a URL. Time and size of the response are bounded; redirects are not followed. */
export function apiAt(url: string, noteResponse?: (response: ApiResponse) => void): ApiCall {
  const base = url.replace(/\/+$/, '')
  return async (path, method = 'GET') => {
    const response = await request(`${base}${path}`, method)
    noteResponse?.(response)
    return response.text
  }
}

async function request(url: string, method: string): Promise<ApiResponse> {
  const path = new URL(url).pathname
  let response: Response
  let text: string
  try {
    response = await fetch(url, {
      method,
      redirect: 'manual',
      signal: AbortSignal.timeout(MAX_MILLISECONDS),
    })
    text = await boundedText(response)
  } catch (error) {
    if (error instanceof ApiFailure) throw error
    const { name, message, code = '' } = error as Error & { readonly code?: string }
    throw new ApiFailure(
      name === 'TimeoutError'
        ? `no answer within ${MAX_MILLISECONDS} ms`
        : `${REASONS[code] ?? message} (${path})`,
    )
  }
  if (response.ok) return { text, date: response.headers.get('date') }
  throw new ApiFailure(`${path} was answered with status ${response.status}`)
}

async function boundedText(response: Response): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  for await (const piece of response.body ?? []) {
    bytes += piece.length
    if (bytes > MAX_BYTES) throw new ApiFailure(`the answer has more than ${MAX_BYTES} bytes`)
    text += decoder.decode(piece, { stream: true })
  }
  return text + decoder.decode()
}
