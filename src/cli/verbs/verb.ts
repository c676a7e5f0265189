import type { Operation } from '../../contract/operation.ts'

/** A row of the table of verbs. */
export interface VerbRow {
  /** The words after `strand`: one or two nouns and the verb. */
  readonly words: string
  readonly operation: Operation
  /** Fields that are arguments, in addition to those of the path, which always are. */
  readonly arguments?: readonly string[]
  /** A field that is read from standard input: as a flag it would be visible in the list of processes. */
  readonly secret?: string
  /** The field of the operation that takes a list: flags or arguments give one entry, `--body` a file with many. */
  readonly bulk?: string
  /** The columns of a table with too many; `--json` prints all fields. */
  readonly columns?: readonly string[]
  /** The columns on a terminal, where names come with their ids; default: the same. */
  readonly terminalColumns?: readonly string[]
  /** A DELETE that needs no confirmation, because another verb can undo it. */
  readonly harmless?: boolean
  /** Asks for confirmation without being a DELETE. */
  readonly asks?: boolean
  /** Prints a secret: asks for confirmation before it appears on a terminal. */
  readonly reveals?: string
  /** Asks for confirmation without this field: with it, the old value stays valid for a while. */
  readonly asksWithout?: string
  /** A test runs them in the order of the table, with DELETEs last. */
  readonly examples: readonly string[]
}

/** A verb with its fields, as parsing, help, completion and messages need them. */
export interface Verb extends VerbRow {
  /** Those of the path come first. For a list, the fields of one entry. */
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
  readonly kind: 'text' | 'integer' | 'number' | 'yes-no' | 'list' | 'pairs' | 'other'
  readonly choices: readonly string[] | undefined
  readonly min: number
  readonly max: number | undefined
  /** Can be removed: `--no-game`. */
  readonly removable: boolean
  readonly required: boolean
  readonly meaning: string
  /** The placeholder of the value in help. */
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
