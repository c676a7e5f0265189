/** What the console knows about a kind of row. Columns, filters and forms come from the contract as far as possible. */
import { type OperationName, operationOf } from './operator-api.ts'

export const GROUPS = ['Live', 'People', 'Drops', 'Applications', 'System'] as const

export interface Resource {
  /** In the address: `/console/<path>`. */
  readonly path: string
  readonly title: string
  /** One of them, in the middle of a sentence. */
  readonly one: string
  readonly group: (typeof GROUPS)[number]
  readonly list: OperationName
  /** The operation that returns one row; absent if only the list has it. */
  readonly get?: OperationName
  /** The field by which operations know a row. */
  readonly key: string
  /** The field by which people know it. */
  readonly name: string
  readonly columns: readonly string[]
  /** Parameters of the list that are offered as filters; default: all. */
  readonly filters?: readonly string[]
  /** A filter that finds rows by a text that people know. */
  readonly findBy?: string
  /** An operation that searches, with the fields of its rows that have key and name. */
  readonly search?: { readonly operation: OperationName; readonly key: string; readonly name: string }
  /** A field with few values, whose counts are shown above the table. */
  readonly glance?: string
  /** Shown if there are no rows at all. */
  readonly empty: string
  readonly create?: Action
  /** Other actions on no particular row. */
  readonly listActions?: readonly Action[]
  readonly actions?: readonly Action[]
  readonly parts?: readonly Part[]
}

export interface Action {
  /** In the address: `/console/<resource>/<key>/<path>`. */
  readonly path: string
  readonly title: string
  readonly operation: OperationName
  /** The input that takes the key of the row; default: the first placeholder of the path. */
  readonly by?: string
  /** Reported afterwards. */
  readonly done: string
  /** Asks before it changes anything: `by-name` wants the name of the row typed. */
  readonly asks?: 'once' | 'by-name'
  /** The row is gone afterwards. */
  readonly removes?: boolean
  /** The form starts with the values that this operation returns. */
  readonly edits?: OperationName
  /** The body is a list under this name; one entry for each line of a field. */
  readonly bulk?: { readonly list: string; readonly each: string }
  /** Inputs that the form does not offer. */
  readonly omit?: readonly string[]
  /** Offered beside each row of the table, too. */
  readonly inRow?: boolean
  /** Only reached from a part, which gives what is missing. */
  readonly hidden?: boolean
}

/** `more` is what is special about an action. */
export const act = (
  path: string,
  title: string,
  operation: OperationName,
  done: string,
  more: Partial<Action> = {},
): Action => ({ path, title, operation, done, ...more })

export const create = (
  title: string,
  operation: OperationName,
  done: string,
  more?: Partial<Action>,
): Action => act('new', title, operation, done, more)

export const edit = (
  operation: OperationName,
  edits: OperationName,
  done: string,
  more?: Partial<Action>,
): Action => act('edit', 'Edit', operation, done, { edits, ...more })

export const remove = (operation: OperationName, done: string, more?: Partial<Action>): Action =>
  act('delete', 'Delete', operation, done, { asks: 'once', removes: true, ...more })

/** More about a row, on its page: one other row, or a list. */
export interface Part {
  readonly title: string
  readonly operation: OperationName
  /** The input that takes the key of the row. */
  readonly by: string
  /** What the rows of the list are. */
  readonly of?: string
  readonly columns?: readonly string[]
  /** A hidden action that removes a row of the list, and the input that takes its key. */
  readonly remove?: { readonly action: string; readonly by: string }
}

/** The input that takes the key in the operation that returns one row. */
export const getInputOf = ({ get, key }: Resource): string =>
  (get && Object.keys(operationOf(get).params?.properties ?? {})[0]) ?? key
