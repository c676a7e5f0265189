import type { Call } from './call.ts'
import type { Caller } from './caller.ts'
import type { Input } from './request.ts'
import type { CallOptions } from './signatures.ts'
import { StrandError } from './strand-error.ts'
import { updateAll } from './update-all.ts'

/** The shape of every answer that has rows. */
interface Rows {
  readonly data: readonly unknown[]
  readonly pagination?: { readonly cursor?: string }
}

/** The operations of a family as functions. Only the types decide what each accepts. */
export function createMethods<Methods>(caller: Caller, calls: Readonly<Record<string, Call>>): Methods {
  const methods = Object.entries(calls).map(([name, call]) => [name, createMethod(caller, call)] as const)
  return Object.fromEntries(methods) as Methods
}

function createMethod(caller: Caller, call: Call) {
  const send = (input: Input = {}, options?: CallOptions) => caller.send(call, input, options)
  const pages = (input: Input = {}, options?: CallOptions) => pagesOf(at => send(at, options), input)
  return Object.assign(send, {
    pages,
    each: async function* (input?: Input, options?: CallOptions) {
      for await (const page of pages(input, options)) yield* page.data
    },
    one: async (input?: Input, options?: CallOptions) => onlyRow(call, await send(input, options)),
    all: (input: Input, options?: CallOptions) => updateAll(at => send(at, options), input),
  })
}

/** Requests pages until the last one; with `before` it walks backwards. */
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

function onlyRow(call: Call, answer: unknown): unknown {
  const { data } = answer as Rows
  if (data.length === 1) return data[0]
  const message = `${call.id} returned ${data.length} rows instead of one.`
  throw new StrandError({ status: 200, error: 'Not One', message, operation: call.id })
}
