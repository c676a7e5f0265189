/**
 * What operators can do, described once for each resource of the control API. Two renderers follow from it: the commands of
 * `strand` (`cli/verbs/`) and the tables and forms of the console (`site/console/`). Inputs, limits and help come from the
 * declarations of the operations; `fields.ts` describes fields that several resources have.
 */
import type { Operation } from '../operation.ts'

export interface Resource {
  /** The commands, by noun. A resource of the API can have several: channels have editors. */
  readonly nouns: readonly Noun[]
  /** The tables of the console. */
  readonly tables?: readonly AdminTable[]
}

export interface Noun {
  /** The words after `strand`: `org member`. */
  readonly words: string
  readonly meaning: string
  readonly actions: readonly Action[]
}

/** One operation, as a command and, with a `form`, as a form of the console. */
export interface Action {
  readonly operation: Operation
  /** The last word of the command. */
  readonly verb: string
  /** What follows the words of the command. A test runs them in the order of the nouns, with DELETEs last. */
  readonly examples: readonly string[]
  /** Fields that are arguments of the command, in addition to those of the path, which always are. */
  readonly arguments?: readonly string[]
  /** A field that the command reads from standard input: as a flag it would be visible in the list of processes. */
  readonly secret?: string
  /** The columns that the command prints, if there are too many; `--json` prints all fields. */
  readonly columns?: readonly string[]
  /** The same on a terminal, where names come with their ids; default: the same. */
  readonly terminalColumns?: readonly string[]
  /** Prints a secret: asks for confirmation before it appears on a terminal. */
  readonly reveals?: string
  /** The input that takes a list. The command gives one entry, or a file with many; the form one for each line of a field. */
  readonly bulk?: string
  /** Has inputs that no flag can give: the command takes a file with the body, and flags replace what it has. */
  readonly takesBody?: true
  /** The answer of the command is a table, though the operation is no list. */
  readonly isReport?: true
  /**
   * How it is confirmed. `undoable`: another action undoes it, so only the console asks, where a click is easily made.
   * `final`: both ask. `by-name`: both ask, and the console wants the name of the row typed.
   */
  readonly confirm?: 'undoable' | 'final' | 'by-name'
  /** The command asks only without this input: with it, the old value stays valid for a while. */
  readonly confirmWithout?: string
  readonly form?: Form
}

/** An action as the console offers it. */
export interface Form {
  /** In the address: `/console/<table>/<key>/<path>`. */
  readonly path: string
  readonly title: string
  /** Reported afterwards. */
  readonly done: string
  /** The input that takes the key of the row; default: the first placeholder of the path. */
  readonly by?: string
  /** The form starts with the values that this operation returns. */
  readonly edits?: Operation
  /** The row is gone afterwards. */
  readonly removes?: boolean
  /** The columns of the answer, which is shown afterwards. */
  readonly reports?: readonly string[]
  /** The answer is lines, which are saved as a file with this ending. */
  readonly downloads?: string
  /** With `bulk`: the field of an entry that has one line for each entry. */
  readonly each?: string
  /** Inputs that the form does not offer. */
  readonly omit?: readonly string[]
  /** Inputs that a new row cannot do without, though the operation lets others leave them out. */
  readonly required?: readonly string[]
  /** The input that takes the id of a new row, which the form creates. */
  readonly generates?: string
  /** The operation only reads: the columns of its answer, which is shown below the form. */
  readonly shows?: readonly string[]
  /** What fields can be set to, in groups, where more is known than the declaration has. */
  readonly choices?: Readonly<Record<string, readonly ChoiceGroup[]>>
  /** Offered beside each row of the table, too. */
  readonly inRow?: boolean
  /** Whether the page of a row offers it; default: always. */
  readonly offeredFor?: (row: Readonly<Record<string, unknown>>) => boolean
  /** Only reached from a part, which gives what is missing. */
  readonly hidden?: boolean
}

/** Values with what each means. */
export interface ChoiceGroup {
  readonly title: string
  readonly choices: readonly (readonly [value: string, meaning: string])[]
}

export type FormAction = Action & { readonly form: Form }

/** The groups of tables in the console, in the order of its navigation. */
export const GROUPS = ['Live', 'People', 'Drops', 'Applications', 'System'] as const

/** The rows of a list operation. */
export interface AdminTable {
  /** In the address: `/console/<path>`. Fields that refer to its rows name it. */
  readonly path: string
  readonly title: string
  /** One of them, in the middle of a sentence. */
  readonly one: string
  readonly group: (typeof GROUPS)[number]
  readonly list: Operation
  /** The operation that returns one row; absent if only the list has it. */
  readonly get?: Operation
  /** The field by which operations know a row. */
  readonly key: string
  /** The field by which people know it. */
  readonly name: string
  readonly columns: readonly string[]
  /** Parameters of the list that are offered as filters; default: all. */
  readonly filters?: readonly string[]
  /** A filter that finds rows by a text that people know; the command line shows this field beside ids. */
  readonly findBy?: string
  /** An operation that searches, with the fields of its rows that have key and name. */
  readonly search?: { readonly operation: Operation; readonly key: string; readonly name: string }
  /** A field with few values, whose counts are shown above the table. */
  readonly glance?: string
  /** Shown if there are no rows at all. */
  readonly empty: string
  readonly create?: FormAction
  /** Other actions on no particular row. */
  readonly listActions?: readonly FormAction[]
  readonly actions?: readonly FormAction[]
  readonly parts?: readonly Part[]
}

/** More about a row, on its page: one other row, or a list. */
export interface Part {
  readonly title: string
  readonly operation: Operation
  /** The input that takes the key of the row. */
  readonly by: string
  /** The table that the rows of the list are from. */
  readonly of?: string
  readonly columns?: readonly string[]
  /** Of a list inside the row: the fields that count a part of `of`, a field of the row. */
  readonly shares?: { readonly of: string; readonly fields: readonly string[] }
  /** A hidden action that removes a row of the list, and the input that takes its key. */
  readonly remove?: { readonly action: FormAction; readonly by: string }
}

/** `more` is what is special about an action. */
export function action<const More extends Partial<Action>>(
  verb: string,
  operation: Operation,
  examples: readonly string[],
  more?: More,
): Action & More {
  return { verb, operation, examples, ...more } as Action & More
}

/** The form of an action that creates a row. */
export const createForm = (title: string, done: string, more?: Partial<Form>): Form => ({
  path: 'new',
  title,
  done,
  ...more,
})

/** The form of an action that changes a row, starting with what `edits` returns. */
export const editForm = (edits: Operation, done: string, more?: Partial<Form>): Form => ({
  path: 'edit',
  title: 'Edit',
  done,
  edits,
  ...more,
})

/** The form of an action that deletes a row. */
export const removeForm = (done: string, more?: Partial<Form>): Form => ({
  path: 'delete',
  title: 'Delete',
  done,
  removes: true,
  ...more,
})

/** The input that takes the key in the operation that returns one row. */
export const getInput = ({ get, key }: AdminTable): string =>
  (get && Object.keys(get.params?.properties ?? {})[0]) ?? key
