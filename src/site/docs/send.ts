/** Sends a request to this server, and returns the parts of the answer that are shown. */
import type { Prepared } from './prepare.ts'

export interface Answer {
  readonly status: number
  readonly reason: string
  readonly milliseconds: number
  /** Those that explain the answer, in the order of `SHOWN`. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly text: string
  readonly bytes: number
  /** Only the beginning of the body was read. */
  readonly isCut: boolean
  readonly isJson: boolean
}

const SHOWN = [
  'Content-Type',
  'Content-Disposition',
  'Ratelimit-Limit',
  'Ratelimit-Remaining',
  'Ratelimit-Reset',
  'Retry-After',
  'X-Request-Id',
]

/** An export may be larger than any page can show. */
const MAX_BYTES = 200_000

export async function send(
  { method, target, headers, content }: Prepared,
  credentials: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<Answer> {
  const began = performance.now()
  const response = await fetch(target, {
    method,
    headers: { ...headers, ...credentials },
    ...(content !== undefined && { body: content }),
    // The API ignores cookies, and a redirect would lead away from it.
    credentials: 'omit',
    redirect: 'manual',
    cache: 'no-store',
    signal,
  })
  const { text, bytes, isCut } = await readBeginning(response)
  const isJson = /\bjson\b/.test(response.headers.get('Content-Type') ?? '') && !isCut
  return {
    status: response.status,
    reason: response.statusText,
    milliseconds: performance.now() - began,
    headers: SHOWN.flatMap(name => {
      const value = response.headers.get(name)
      return value === null ? [] : [[name, value] as const]
    }),
    text: isJson ? indented(text) : text,
    bytes,
    isCut,
    isJson,
  }
}

async function readBeginning(response: Response): Promise<{ text: string; bytes: number; isCut: boolean }> {
  const reader = response.body?.getReader()
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  while (reader !== undefined) {
    const { done, value } = await reader.read()
    if (done) break
    bytes += value.length
    text += decoder.decode(value, { stream: true })
    if (bytes < MAX_BYTES) continue
    await reader.cancel()
    return { text: text.slice(0, MAX_BYTES), bytes, isCut: true }
  }
  return { text, bytes, isCut: false }
}

/** JSON lines stay as they are. */
function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
