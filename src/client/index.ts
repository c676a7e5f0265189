import type {
  controlOperations,
  helixOperations,
  oauthOperations,
  playbackOperations,
} from '../contract/index.ts'
import { Caller } from './caller.ts'
import { calls } from './calls.ts'
import { methodsOf } from './methods.ts'
import type { ClientOptions } from './options.ts'
import type { Methods } from './signatures.ts'

export {
  createEventReceiver,
  type EventReceiverOptions,
  type ReceivedEvent,
  type SignedMessage,
  verifySignature,
} from './event-receiver.ts'
export type { ClientOptions, Token } from './options.ts'
export type { CallOptions, InputOf, Method, Methods, RowOf } from './signatures.ts'
export { StrandError } from './strand-error.ts'

/** The API as functions: one for each operation of the contract, under the operation's name. */
export interface Client {
  readonly helix: Methods<typeof helixOperations>
  readonly oauth: Methods<typeof oauthOperations>
  readonly playback: Methods<typeof playbackOperations>
  readonly control: Methods<typeof controlOperations>
}

/** Creates a client for a Strand server. Methods, inputs and answers follow from the operations that the contract declares. */
export function createClient(options: ClientOptions): Client {
  const caller = new Caller(options)
  return {
    helix: methodsOf<typeof helixOperations>(caller, calls.helix),
    oauth: methodsOf<typeof oauthOperations>(caller, calls.oauth),
    playback: methodsOf<typeof playbackOperations>(caller, calls.playback),
    control: methodsOf<typeof controlOperations>(caller, calls.control),
  }
}
