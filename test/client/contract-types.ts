/** The types of the client as they follow from the contract. The compiler compares them with the generated ones. */
import type {
  ControlMethods,
  HelixMethods,
  OauthMethods,
  PlaybackMethods,
  Received,
} from '../../src/client/index.ts'
import type {
  controlOperations,
  helixOperations,
  oauthOperations,
  playbackOperations,
} from '../../src/contract/index.ts'
import type { AnswerOf, BodyOf, Operation, ParamsOf, QueryOf } from '../../src/contract/operation.ts'

/** What a caller may pass for a declared value: arrays may be read-only, optional fields may be undefined. */
type Given<T> = T extends readonly (infer Item)[]
  ? readonly Given<Item>[]
  : T extends object
    ? { [K in keyof T]: Given<T[K]> | (Record<never, never> extends Pick<T, K> ? undefined : never) }
    : T

type PageInput<O extends Operation> = O extends { readonly page: { readonly before: true } }
  ? { first?: number; after?: string; before?: string }
  : O extends { readonly page: object }
    ? { first?: number; after?: string }
    : Record<never, never>

type InputOf<O extends Operation> =
  QueryOf<O> extends infer Query
    ? Query extends unknown
      ? Given<Query & ParamsOf<O> & BodyOf<O> & PageInput<O>>
      : never
    : never

type ReceivedOf<O extends Operation> = O extends { readonly answerFile: readonly string[] }
  ? string
  : Received<AnswerOf<O>>

type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false

/** Narrower than the parser on purpose: fields by grant, names of operations, and a record without undefined values. */
type Narrowed = 'createToken' | 'createOpenidToken' | 'planFault' | 'reportViewers'

type Differing<Operations, Methods> = {
  [Name in keyof Operations & keyof Methods]: Operations[Name] extends Operation
    ? Methods[Name] extends (...args: infer Arguments) => Promise<infer Answer>
      ? [
          Name extends Narrowed ? true : Same<InputOf<Operations[Name]>, NonNullable<Arguments[0]>>,
          Same<ReceivedOf<Operations[Name]>, Answer>,
        ] extends [true, true]
        ? never
        : Name
      : Name
    : Name
}[keyof Operations & keyof Methods]

type AllDiffering =
  | Differing<typeof helixOperations, HelixMethods>
  | Differing<typeof oauthOperations, OauthMethods>
  | Differing<typeof playbackOperations, PlaybackMethods>
  | Differing<typeof controlOperations, ControlMethods>

/** Whether all methods have the types of the contract. */
export const areSame: [AllDiffering] extends [never] ? true : AllDiffering = true
