import { familyOf, type Operation } from '../../operation.ts'

/** Where an example is sent, and whether the server is in strict mode. */
export interface ExampleServer {
  readonly baseUrl: string
  readonly strict: boolean
}

/** The example of an operation as a request. Tokens are environment variables, so that none ends up in a page or a history. */
export interface ExampleRequest {
  readonly url: string
  /** The variable with the token; undefined: none is sent. */
  readonly token: 'TOKEN' | 'OPERATOR_TOKEN' | undefined
  /** Whether `CLIENT_ID` is sent. */
  readonly hasClientId: boolean
  readonly body: ExampleBody | undefined
}

export type ExampleBody =
  | { readonly type: 'json'; readonly value: unknown }
  | { readonly type: 'form'; readonly fields: Readonly<Record<string, string>> }
  | { readonly type: 'lines'; readonly lines: readonly unknown[] }

export const CONTENT_TYPES: Readonly<Record<ExampleBody['type'], string>> = {
  json: 'application/json',
  form: 'application/x-www-form-urlencoded',
  lines: 'application/x-ndjson',
}

export function exampleRequest(operation: Operation, { baseUrl, strict }: ExampleServer): ExampleRequest {
  const hasClientId = strict && familyOf(operation) === 'helix'
  return {
    url: baseUrl + exampleTarget(operation),
    token: exampleToken(operation) ?? (hasClientId ? 'TOKEN' : undefined),
    hasClientId,
    body: exampleBody(operation),
  }
}

function exampleToken({ id, access }: Operation): ExampleRequest['token'] {
  if (access.kind === 'operator') return 'OPERATOR_TOKEN'
  return access.kind === 'token' || id === 'ValidateToken' ? 'TOKEN' : undefined
}

function exampleBody(operation: Operation): ExampleBody | undefined {
  const { bodyFrom, bodyLines, example } = operation
  if (example.body === undefined) return undefined
  if (bodyLines !== undefined) return { type: 'lines', lines: [example.body].flat() }
  if (bodyFrom === 'anywhere' && familyOf(operation) === 'oauth')
    return { type: 'form', fields: example.body as Record<string, string> }
  return { type: 'json', value: example.body }
}

/** Path and query with the values of the example; placeholders without a value stay. */
function exampleTarget({ path, example }: Operation): string {
  const filled = path.replace(/\{(\w+)\}/g, (place, name: string) => example.params?.[name] ?? place)
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(example.query ?? {})) {
    for (const each of Array.isArray(value) ? value : [value]) query.append(name, String(each))
  }
  const search = query.toString()
  return search === '' ? filled : `${filled}?${search}`
}
