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
  // Made on first use: the site creates a client for each page, which uses one or two families.
  const made = new Map<keyof Client, unknown>()
  const family = <Methods>(name: keyof Client): Methods => {
    if (!made.has(name)) made.set(name, createMethods(caller, calls[name]))
    return made.get(name) as Methods
  }
  return {
    get helix() {
      return family<HelixMethods>('helix')
    },
    get drops() {
      return family<DropsMethods>('drops')
    },
    get oauth() {
      return family<OauthMethods>('oauth')
    },
    get playback() {
      return family<PlaybackMethods>('playback')
    },
    get control() {
      return family<ControlMethods>('control')
    },
  }
}
