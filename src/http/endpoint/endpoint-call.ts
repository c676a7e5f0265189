import type { Operation } from '../../contract/operation.ts'
import type { Key, Page, PageRequest } from '../../contract/page.ts'
import type { Caller } from '../../domain/caller.ts'
import type { Fields } from '../../domain/input.ts'
import type { Call } from '../../operations/implement.ts'
import { toLogFields } from '../failure.ts'
import type { RequestContext } from '../request-context.ts'
import { ONE_PAGE, type Paging } from './paging.ts'

async function* noPieces(): AsyncGenerator<Uint8Array> {}
const NO_PIECES = noPieces()
const NO_FIELDS: Fields = {}

/**
 * A request as its handler sees it. What the operation does not declare keeps its default, and the functions are created
 * when a handler takes them: most take one or none.
 */
export class EndpointCall implements Call<Operation> {
  readonly caller: Caller
  readonly query: never
  params: never = NO_FIELDS as never
  body: never = NO_FIELDS as never
  bodyText = ''
  bodyPieces: AsyncIterable<Uint8Array> = NO_PIECES
  window: PageRequest = ONE_PAGE
  idempotencyKey: string | undefined = undefined
  readonly #context: RequestContext
  readonly #paging: Paging
  #binding: string | undefined = undefined

  constructor(context: RequestContext, caller: Caller, query: Fields, paging: Paging) {
    this.caller = caller
    this.query = query as never
    this.#context = context
    this.#paging = paging
  }

  get authorization(): string | null {
    return this.#context.authorization
  }

  get userAgent(): string {
    return this.#context.headers.get('user-agent') ?? ''
  }

  get address(): () => string {
    return this.#context.address
  }

  get logFields(): Call<Operation>['logFields'] {
    return () => toLogFields(this.#context)
  }

  get paginate(): Call<Operation>['paginate'] {
    return <Row>(page: Page<Row>, sortKey: (row: Row) => Key, cursorState?: Key) =>
      this.#paging.paginate(this, page, sortKey, cursorState)
  }

  /** What the cursors of this call are bound to. */
  get binding(): string {
    this.#binding ??= this.#paging.cursorBinding(this.filters, this.caller)
    return this.#binding
  }

  /** Path and query parameters together. */
  get filters(): Fields {
    return this.params === NO_FIELDS ? this.query : { ...(this.params as Fields), ...(this.query as Fields) }
  }
}
