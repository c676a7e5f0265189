import { OperatorError } from '../kit/operator-error.ts'
import type { Server } from './verbs/target.ts'

/** Sends a request to the control API of a server. Throws the message of an unsuccessful response. */
export async function callControl(
  { baseUrl, operatorToken }: Server,
  path: string,
  init: RequestInit = {},
  send: (url: string, init: RequestInit) => Promise<Response> = fetch,
): Promise<Response> {
  const url = new URL(`${baseUrl}/control${path}`)
  const headers = { Authorization: `Bearer ${operatorToken}` }
  const response = await send(url.href, { ...init, headers }).catch((error: Error) => {
    throw new OperatorError(`${url.origin} cannot be reached: ${error.message}`)
  })
  if (response.ok) return response
  const text = await response.text()
  throw new OperatorError(`${url.origin} returned ${response.status}: ${messageIn(text)}`)
}

function messageIn(text: string): string {
  try {
    return (JSON.parse(text) as { message: string }).message
  } catch {
    return text.slice(0, 200)
  }
}
