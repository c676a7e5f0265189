import { controlOperations, helixOperations, oauthOperations } from '../contract/index.ts'
import { Caller } from './caller.ts'
import { methodsOf } from './methods.ts'
import type { ClientOptions } from './options.ts'
import type { Methods } from './signatures.ts'

export type { ClientOptions, Token } from './options.ts'
export type { CallOptions, InputOf, Method, Methods, RowOf } from './signatures.ts'
export { StrandError } from './strand-error.ts'

/** The API as functions: one for each operation of the contract, under its own name. */
export interface Client {
  readonly helix: Methods<typeof helixOperations>
  readonly oauth: Methods<typeof oauthOperations>
  readonly control: Methods<typeof controlOperations>
}

/**
 * Makes a client of a Strand server. What may be called, with which fields and with what answer, is read off the contract:
 * an operation that is declared there is a method here.
 */
export function createClient(options: ClientOptions): Client {
  const caller = new Caller(options)
  return {
    helix: methodsOf(caller, helixOperations),
    oauth: methodsOf(caller, oauthOperations),
    control: methodsOf(caller, controlOperations),
  }
}
