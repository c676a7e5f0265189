import type { MessageOutcome } from '../contract/resources/fault.ts'

/** The faults that a demo has planned for messages. */
export interface MessageFaults {
  /** Counts a message, and consumes the fault of one of these outcomes that applies to it. */
  takeMessage(
    outcomes: readonly MessageOutcome[],
    message: Readonly<Record<string, string | undefined>>,
  ): MessageOutcome | undefined
}
