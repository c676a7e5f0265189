import type { Operation } from '../../contract/operation.ts'

/** A row of the table of verbs. */
export interface VerbRow {
  /** What follows `strand`: a noun, perhaps another, and the verb. */
  readonly words: string
  readonly operation: Operation
  /** Fields that are arguments, besides those of the path, which always are. */
  readonly arguments?: readonly string[]
  /** A field that is read from standard input: as a flag it would be visible in the list of processes. */
  readonly secret?: string
  /** The operation takes a list in this field: flags or arguments make one entry, `--body` takes a file with many. */
  readonly bulk?: string
  /** The columns to show of a wide row; `--json` has everything. */
  readonly columns?: readonly string[]
  /** A DELETE that another verb can undo, so it does not ask for confirmation. */
  readonly harmless?: boolean
  /** Asks for confirmation, though it is not a DELETE. */
  readonly asks?: boolean
  /** Asks for confirmation without this field: with it, the old value stays valid for a while. */
  readonly asksWithout?: string
  /** A test runs them in the order of the table, those of DELETEs last. */
  readonly examples: readonly string[]
}

/** A verb with everything that parsing, help, completion and messages need to know of its fields. */
export interface Verb extends VerbRow {
  /** Those of the path first. Of a verb that takes a list, those of one entry. */
  readonly fields: readonly Field[]
  /** Takes arguments of the form USER=NUMBER. */
  readonly takesPairs: boolean
}

/** One field of an operation's input. */
export interface Field {
  /** In the contract: `owner_user_id`. */
  readonly name: string
  readonly place: 'argument' | 'flag' | 'secret'
  /** On the command line, without dashes or brackets: `owner-user`. */
  readonly word: string
  /** `--owner-user`, or `<owner-user>` for an argument. */
  readonly shown: string
  readonly kind: 'text' | 'integer' | 'yes-no' | 'list' | 'other'
  readonly choices: readonly string[] | undefined
  readonly min: number
  readonly max: number | undefined
  /** Can be removed: `--no-game`. */
  readonly removable: boolean
  readonly required: boolean
  readonly meaning: string
  /** The name of a value in help. */
  readonly sample: string
}

export function argumentsOf({ fields }: Verb): Field[] {
  return fields.filter(field => field.place === 'argument')
}

export function flagsOf({ fields }: Verb): Field[] {
  return fields.filter(field => field.place === 'flag')
}

/** Whether it can ask for confirmation. */
export function mayAsk({ operation, harmless, asks, asksWithout }: Verb): boolean {
  return asks ?? (asksWithout !== undefined || (operation.method === 'DELETE' && !harmless))
}

/** Whether it asks for confirmation with this input. */
export function mustAsk(verb: Verb, input: Readonly<Record<string, unknown>>): boolean {
  const { asksWithout } = verb
  return mayAsk(verb) && (asksWithout === undefined || input[asksWithout] === undefined)
}
