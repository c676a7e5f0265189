import type { Operation } from '../../contract/operation.ts'

/** One verb of the command line. Its flags, its help, its completion and its output follow from the operation's declaration. */
export interface Verb {
  /** What is said behind `strand`: a noun, perhaps another, and the verb. */
  readonly words: string
  readonly operation: Operation
  /** Fields that are arguments, beside those of the path, which always are. */
  readonly arguments?: readonly string[]
  /** A field that would be seen in a list of processes if it were a flag: it is read from standard input. */
  readonly secret?: string
  /** The operation takes many things at once in this field: flags or arguments make some, `--body` takes a file of them. */
  readonly bulk?: string
  /** Of a wide row, what people want to see; `--json` has everything. */
  readonly columns?: readonly string[]
  /** What a DELETE takes away can be put back by another verb, so nobody is asked. */
  readonly harmless?: boolean
  /** Asks before it is done, though it is no DELETE. */
  readonly asks?: boolean
  /** Asks if this field is left out: with it, what was there before stays good for a while. */
  readonly asksWithout?: string
  /** They work as they stand, one verb after the other in the order of the table; those that delete come last. A test runs them. */
  readonly examples: readonly string[]
}

/** Whether a person is asked first, as far as the verb alone tells. */
export function mayAsk({ operation, harmless, asks, asksWithout }: Verb): boolean {
  return asks ?? (asksWithout !== undefined || (operation.method === 'DELETE' && !harmless))
}

/** Whether a person is asked first, with what was said behind the verb. */
export function mustAsk(verb: Verb, input: Readonly<Record<string, unknown>>): boolean {
  const { asksWithout } = verb
  return mayAsk(verb) && (asksWithout === undefined || input[asksWithout] === undefined)
}
