import { verbatim } from '../sql/tag.ts'

/**
 * Conditions of the indexes for searches. They omit suspended users: a search must not walk past 100,000 of them. Those on
 * display names also omit names that the spellings of a search find by login.
 */
export const isActive = verbatim('suspended_at is null')

export const isOtherName = verbatim(
  `suspended_at is null and replace(display_name_normalized, ' ', '_') <> login and replace(display_name_normalized, ' ', '') <> login`,
)
