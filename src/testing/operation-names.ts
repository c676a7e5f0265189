import type {
  controlOperations,
  helixOperations,
  oauthOperations,
  playbackOperations,
} from '../contract/index.ts'

type IdOf<Operations> = Operations[keyof Operations] extends { readonly id: infer Id extends string }
  ? Id
  : never

type IdsOf<Operations> = { [Name in keyof Operations]: IdOf<Pick<Operations, Name>> }[keyof Operations]

/** An operation whose requests are recorded: all but those of the control API. */
export type RecordedOperation = IdsOf<
  typeof helixOperations & typeof oauthOperations & typeof playbackOperations
>

/** An operation of any API. */
export type OperationName = RecordedOperation | IdsOf<typeof controlOperations>
