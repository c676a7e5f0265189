import type { Action } from '../../contract/admin/resource.ts'

/** An action as a command, with its fields, as parsing, help, completion and messages need them. */
export interface Verb extends Action {
  /** The words after `strand`: one or two nouns and the verb. */
  readonly words: string
  /** Those that the description has, with the words in front. */
  readonly examples: readonly string[]
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

export function listArguments({ fields }: Verb): Field[] {
  return fields.filter(field => field.place === 'argument')
}

export function listFlags({ fields }: Verb): Field[] {
  return fields.filter(field => field.place === 'flag')
}

/** Whether it can ask for confirmation. */
export function mayAsk({ confirm }: Verb): boolean {
  return confirm === 'final' || confirm === 'by-name'
}

/** Whether it asks for confirmation with this input. */
export function mustAsk(verb: Verb, input: Readonly<Record<string, unknown>>): boolean {
  const { confirmWithout } = verb
  return mayAsk(verb) && (confirmWithout === undefined || input[confirmWithout] === undefined)
}
