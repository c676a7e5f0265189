import { verbatim } from '../sql/tag.ts'

/** The condition of the indexes on display names: the spellings of a search find the others by login. */
export const differsFromLogin = verbatim(
  `replace(display_name_normalized, ' ', '_') <> login and replace(display_name_normalized, ' ', '') <> login`,
)
