import type { TString } from 'typebox'
import { Type } from '../schema.ts'

/**
 * Schemas of ids and times. `hint` ends the sentence `The parameter "x" was malformed: the value must be ...`.
 * Filters accept any text: a value of another form matches nothing (D-15). Ids of new resources are checked strictly.
 */
export const UUID_PATTERN = '^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$'

/** The id of a user, game, stream or video in a filter. */
export const IdFilter = Type.String({ description: 'Decimal digits; any other form matches nothing.' })

/** A canonical decimal id of at most 19 digits. */
export const DecimalId = Type.String({
  pattern: '^(0|[1-9][0-9]{0,18})$',
  hint: 'a decimal id of at most 19 digits without leading zeros',
  examples: ['141981764'],
})

export const Uuid = Type.String({
  pattern: UUID_PATTERN,
  hint: 'a UUID',
  examples: ['fb78259e-fb81-4d1b-8333-34a06ffc24c0'],
})

/** Ids and URLs in answers. Requests have patterns instead, because D-10 fixes the message of a violation. */
export const ReturnedUuid = Type.String({ format: 'uuid' })
export const ReturnedUrl = Type.String({ format: 'uri' })

export const TimeMillis = Type.String({
  format: 'date-time',
  description: 'RFC 3339 UTC with milliseconds.',
  examples: ['2026-03-01T12:00:00.250Z'],
})

export const TimeSeconds = Type.String({
  format: 'date-time',
  description: 'RFC 3339 UTC, whole seconds.',
  examples: ['2026-03-01T12:00:00Z'],
})

/** A time in a request. */
export const GivenTime = Type.String({
  pattern:
    '^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,9})?Z$',
  hint: 'a time in RFC 3339 UTC such as 2026-03-01T12:00:00Z',
  examples: ['2026-03-01T12:00:00Z'],
})

/** A user with its names, as rows about other things have them. */
type NameFields<Prefix extends string> = `${Prefix}_id` | `${Prefix}_login` | `${Prefix}_name`

/** `user_id`, `user_login` and `user_name`, with this prefix. */
export function nameFields<const Prefix extends string>(prefix: Prefix): Record<NameFields<Prefix>, TString> {
  const names = [`${prefix}_id`, `${prefix}_login`, `${prefix}_name`]
  return Object.fromEntries(names.map(name => [name, Type.String()])) as Record<NameFields<Prefix>, TString>
}

/** The same fields of a user. */
export function namesAs<const Prefix extends string>(
  prefix: Prefix,
  user: { readonly id: string; readonly login: string; readonly display_name: string },
): Record<NameFields<Prefix>, string> {
  const { id, login, display_name } = user
  const names = { [`${prefix}_id`]: id, [`${prefix}_login`]: login, [`${prefix}_name`]: display_name }
  return names as Record<NameFields<Prefix>, string>
}

export const userNames = nameFields('user')
export const exampleFollowerNames = {
  user_id: '25009227',
  user_login: 'quiet_heron',
  user_name: 'Quiet_Heron',
}
export const exampleNames = { user_id: '141981764', user_login: 'lunar_otter', user_name: 'Lunar_Otter' }

/**
 * Titles and names are shown beside other text, which characters that change its direction would reorder: a name could look
 * like another, and a file like one of another type.
 */
export const WITHOUT_DIRECTION = {
  pattern: '^[^\\u202A-\\u202E\\u2066-\\u2069]*$',
  hint: 'text without directional controls (U+202A to U+202E, U+2066 to U+2069)',
} as const

export const Name = Type.String({
  minLength: 1,
  maxLength: 100,
  description: 'At most 100 characters.',
  ...WITHOUT_DIRECTION,
})

export const DisplayName = Type.String({
  minLength: 1,
  maxLength: 50,
  description: 'At most 50 characters.',
  ...WITHOUT_DIRECTION,
})
