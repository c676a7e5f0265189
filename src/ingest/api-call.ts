import type { MediaServerRow } from '../store/queries/media-servers.ts'
import type { ApiCall } from './adapters/adapter.ts'
import { adapters } from './adapters/index.ts'
import { apiToken, deriveApiSecret } from './api-secret.ts'

const MAX_MILLISECONDS = 2000
const MAX_BYTES = 8 * 1024 * 1024

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ENOTFOUND: 'the host name is unknown',
}

/** The API of a media server did not answer as expected. */
export class ApiFailure extends Error {
  override readonly name = 'ApiFailure'
  /** Undefined: there was no answer. */
  readonly status: number | undefined

  constructor(message: string, status?: number) {
    super(message)
    this.status = status
  }
}

export interface ApiResponse {
  readonly text: string
  /** The value of the header Date. */
  readonly date: string | null
}

interface ApiOptions {
  readonly noteResponse?: (response: ApiResponse) => void
  /** One of these is the secret of the API, if it asks for one. */
  readonly secrets?: readonly string[]
}

/** Calls the API of a media server, with the secret that follows from that of its callbacks, or from the previous one. */
export function createApiCall(server: MediaServerRow, url: string): ApiCall {
  if (adapters[server.adapter].api?.hasSecret !== true) return apiAt(url)
  const hashes = [server.secret_hash, server.previous_hash].filter(hash => hash !== null)
  return apiAt(url, { secrets: hashes.map(deriveApiSecret) })
}

/** Calls the API of a media server at a URL. Time and size of the response are bounded; redirects are not followed. */
export function apiAt(url: string, { noteResponse, secrets = [] }: ApiOptions = {}): ApiCall {
  const base = url.replace(/\/+$/, '')
  return async (path, method = 'GET') => {
    const response = await withFirstWorking(secrets, secret => request(`${base}${path}`, method, secret))
    noteResponse?.(response)
    return response.text
  }
}

/** The first secret that is not refused. */
async function withFirstWorking<T>(
  [secret, ...others]: readonly string[],
  call: (secret: string | undefined) => Promise<T>,
): Promise<T> {
  try {
    return await call(secret)
  } catch (error) {
    if (others.length === 0 || !(error instanceof ApiFailure) || error.status !== 401) throw error
    return withFirstWorking(others, call)
  }
}

async function request(url: string, method: string, secret: string | undefined): Promise<ApiResponse> {
  const path = new URL(url).pathname
  let response: Response
  let text: string
  try {
    response = await fetch(url, {
      method,
      redirect: 'manual',
      signal: AbortSignal.timeout(MAX_MILLISECONDS),
      ...(secret !== undefined && { headers: { Authorization: `Bearer ${apiToken(secret, Date.now())}` } }),
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
  throw new ApiFailure(`${path} was answered with status ${response.status}`, response.status)
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
