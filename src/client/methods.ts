import type { Operation } from '../contract/operation.ts'
import type { Caller } from './caller.ts'
import type { Input } from './request.ts'
import type { CallOptions, Methods } from './signatures.ts'
import { StrandError } from './strand-error.ts'

/** What every answer with rows looks like. */
interface Rows {
  readonly data: readonly unknown[]
  readonly pagination?: { readonly cursor?: string }
}

/** The operations of a family as functions. What each may be called with is decided by the types alone. */
export function methodsOf<Operations extends Readonly<Record<string, Operation>>>(
  caller: Caller,
  operations: Operations,
): Methods<Operations> {
  const methods: Record<string, unknown> = {}
  for (const [name, operation] of Object.entries(operations)) methods[name] = methodOf(caller, operation)
  return methods as Methods<Operations>
}

function methodOf(caller: Caller, operation: Operation) {
  const call = (input: Input = {}, options?: CallOptions) => caller.call(operation, input, options)
  const pages = (input: Input = {}, options?: CallOptions) => pagesOf(at => call(at, options), input)
  return Object.assign(call, {
    pages,
    each: async function* (input?: Input, options?: CallOptions) {
      for await (const page of pages(input, options)) yield* page.data
    },
    one: async (input?: Input, options?: CallOptions) => onlyRow(operation, await call(input, options)),
  })
}

/** Goes on behind each page until there is none; a walk that was given `before` goes backwards. */
async function* pagesOf(ask: (input: Input) => Promise<unknown>, input: Input): AsyncGenerator<Rows> {
  const direction = input.before === undefined ? 'after' : 'before'
  for (let at = input; ; ) {
    const page = (await ask(at)) as Rows
    yield page
    const cursor = page.pagination?.cursor
    if (cursor === undefined) return
    at = { ...input, [direction]: cursor }
  }
}

function onlyRow(operation: Operation, answer: unknown): unknown {
  const { data } = answer as Rows
  if (data.length === 1) return data[0]
  const message = `${operation.id} answered ${data.length} things where one was asked for.`
  throw new StrandError({ status: 200, error: 'Not One', message, operation: operation.id })
}
