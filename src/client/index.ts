import type { ControlMethods, DropsMethods, HelixMethods, OauthMethods, PlaybackMethods } from './api.ts'
import { Caller } from './caller.ts'
import { calls } from './calls.ts'
import { checkClientOptions } from './check-options.ts'
import { createMethods } from './methods.ts'
import type { ClientOptions } from './options.ts'

export type * from './api.ts'
export {
  createEventReceiver,
  type EventReceiverOptions,
  type ReceivedEvent,
  type SignedMessage,
  verifySignature,
} from './event-receiver.ts'
export type { ClientOptions, RequestEvent, ResponseEvent, RetryEvent } from './options.ts'
export type { RateState, ResponseInfo } from './response-info.ts'
export type { CallOptions, ListMethod, Method, Received, RowsMethod, UpdateMethod } from './signatures.ts'
export { StrandError } from './strand-error.ts'
export type { Token } from './token.ts'

/** The API as functions: one for each operation of the contract, under the operation's name. */
export interface Client {
  /** The public API. */
  readonly helix: HelixMethods
  /** Drops campaigns, for viewers. */
  readonly drops: DropsMethods
  /** Tokens and the user behind them. */
  readonly oauth: OauthMethods
  /** What players call. */
  readonly playback: PlaybackMethods
  /** The API of operators. */
  readonly control: ControlMethods
}

/** Creates a client for a Strand server. Methods, inputs and answers follow from the operations that the contract declares. */
export function createClient(options: ClientOptions): Client {
  checkClientOptions(options)
  const caller = new Caller(options)
  return {
    helix: createMethods<HelixMethods>(caller, calls.helix),
    drops: createMethods<DropsMethods>(caller, calls.drops),
    oauth: createMethods<OauthMethods>(caller, calls.oauth),
    playback: createMethods<PlaybackMethods>(caller, calls.playback),
    control: createMethods<ControlMethods>(caller, calls.control),
  }
}
