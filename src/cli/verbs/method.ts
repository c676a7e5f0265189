import type { Client } from '../../client/index.ts'
import { familyOf, methodName, type Operation } from '../../contract/operation.ts'
import type { Input } from './input.ts'

export interface OperationResponse {
  readonly data?: readonly Readonly<Record<string, unknown>>[]
  readonly pagination?: { readonly cursor?: string }
}

/** Any method of the client. Its input comes from the same declaration, so the types match. */
type AnyMethod = ((input: Input) => Promise<OperationResponse | undefined>) & {
  pages(input: Input): AsyncIterable<OperationResponse>
}

export function methodFor(client: Client, operation: Operation): AnyMethod {
  const methods = client[familyOf(operation)] as unknown as Readonly<Record<string, AnyMethod>>
  const method = methods[methodName(operation)]
  if (method === undefined) throw new Error(`the client has no ${operation.id}`)
  return method
}
