import { nouns } from '../../contract/admin/index.ts'
import { withFields } from './fields.ts'
import type { Verb } from './verb.ts'

/** The description of each noun. */
export const NOUNS: Readonly<Record<string, string>> = Object.fromEntries(
  nouns.map(({ words, meaning }) => [words, meaning]),
)

export const verbs: readonly Verb[] = nouns.flatMap(noun =>
  noun.actions.map(action => withFields(`${noun.words} ${action.verb}`, action)),
)
