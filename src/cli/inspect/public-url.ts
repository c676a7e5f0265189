import { OperatorError } from '../../kit/operator-error.ts'

const TIMEOUT_MILLISECONDS = 5000

/** The base URL that people use, which a server names in its OpenAPI document. */
export async function findPublicUrl(operatorUrl: string): Promise<string> {
  const response = await fetch(`${operatorUrl}/openapi.json`, {
    signal: AbortSignal.timeout(TIMEOUT_MILLISECONDS),
  }).catch((error: Error) => {
    throw new OperatorError(`${operatorUrl} cannot be reached: ${error.message}`)
  })
  const document = (await response.json().catch(() => undefined)) as
    | { readonly servers?: readonly { readonly url?: unknown }[] }
    | undefined
  const url = document?.servers?.[0]?.url
  // A browser opens it, so it has to be a page and nothing else.
  if (typeof url === 'string' && /^https?:\/\/[\x21-\x7e]+$/.test(url) && URL.canParse(url)) return url
  throw new OperatorError(`${operatorUrl} is not a Strand server: it names no public URL`)
}
