/**
 * The API as the console calls it while it renders a page: the typed client, answered inside this process on behalf of the
 * operator who is logged in. The control API keeps ignoring cookies; the server passes the operator beside the request.
 */
import type { Operator } from '../../auth/operator-sessions.ts'
import { type Client, StrandError } from '../../client/index.ts'
import { InvalidInput } from '../../client/invalid-input.ts'
import { methodName, type Operation } from '../../contract/operation.ts'
import { inProcessClient } from '../request/api-for.ts'
import { unlessRefused } from '../scripts/refused.ts'
import type { ConsoleServices } from './services.ts'

/** A row of any resource, as the API returns it. */
export type Row = Readonly<Record<string, unknown>>
export type Input = Readonly<Record<string, unknown>>

export interface Rows {
  readonly data: readonly Row[]
  readonly pagination?: { readonly cursor?: string }
}

export class OperatorApi {
  readonly client: Client
  readonly #methods: Readonly<Record<string, (input: Input) => Promise<unknown>>>
  readonly #send: (request: Request) => Response | Promise<Response>

  constructor(
    operator: Operator,
    address: string,
    services: Pick<ConsoleServices, 'callApi' | 'callControl' | 'siteTokens' | 'publicUrl' | 'clock'>,
  ) {
    this.#send = request => services.callControl(request, operator, address)
    const visitor = { session_id: null, scopes: [] }
    this.client = inProcessClient(services, visitor, (request, url) =>
      new URL(url).pathname.startsWith('/helix/') ? services.callApi(request, address) : this.#send(request),
    )
    this.#methods = { ...this.client.helix, ...this.client.control } as never
  }

  /** Calls an operation that a description names. The operation validates the input. */
  async call(operation: Operation, input: Input): Promise<unknown> {
    try {
      return await this.#methods[methodName(operation)]?.(input)
    } catch (error) {
      // The client does not send a path without a value, or one with dots.
      if (!(error instanceof InvalidInput)) throw error
      const { message, field } = error
      throw new StrandError({ status: 400, error: 'Bad Request', message, field, operation: operation.id })
    }
  }

  /** The lines that an operation answers, which the client leaves out. */
  async lines({ id, method, path }: Operation, input: Input): Promise<ReadableStream<Uint8Array>> {
    const filled = path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(String(input[name])))
    const response = await this.#send(new Request(new URL(filled, 'http://localhost'), { method }))
    if (response.ok && response.body !== null) return response.body
    const { status, error, message } = (await response.json()) as Pick<
      StrandError,
      'status' | 'error' | 'message'
    >
    throw new StrandError({ status, error, message, operation: id })
  }

  async rows(operation: Operation, input: Input): Promise<Rows> {
    return (await this.call(operation, input)) as Rows
  }

  /** The only row of the answer; undefined if there is none. */
  async find(operation: Operation, input: Input): Promise<Row | undefined> {
    return unlessRefused(undefined, async () => (await this.rows(operation, input)).data[0])
  }
}
