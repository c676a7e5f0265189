import type { Static } from 'typebox'
import { optional, orNull, resource, Type } from '../schema.ts'
import { DisplayName, TimeMillis } from './id.ts'
import { listSchema } from './list.ts'

export const LOGIN_PATTERN = '^[a-zA-Z0-9_]{1,25}$'

export const BROADCASTER_TYPES = ['', 'affiliate', 'partner'] as const

/** What operators may set beside names, in requests, imports and scenarios. */
export const MAX_DESCRIPTION = 300
export const Description = Type.String({ maxLength: MAX_DESCRIPTION })

export const MAX_LINKS = 5
export const MAX_LINK_LABEL = 40
/** Nothing but a host follows the scheme: a name before an @ could pass for one. */
export const PROFILE_LINK_PATTERN = `^[^\\s\\p{C}](?:[^\\p{C}]{0,${MAX_LINK_LABEL - 2}}[^\\s\\p{C}])? https://[A-Za-z0-9.:\\[\\]-]+(?:[/?#][!-~]*)?$`

const ProfileLink = Type.String({
  maxLength: 500,
  pattern: PROFILE_LINK_PATTERN,
  hint: `a label of at most ${MAX_LINK_LABEL} characters and an https URL, separated by a space`,
  examples: ['Schedule https://otter.example.com/schedule'],
})

export const Email = Type.String({
  maxLength: 254,
  pattern: '^[^@\\s\\x00-\\x1f\\x7f]+@[^@\\s\\x00-\\x1f\\x7f]+$',
  hint: 'an email address',
  examples: ['otter@example.com'],
})

export const SuspensionReason = Type.String({
  maxLength: 300,
  description: 'For other operators; the user does not see it.',
})

/** What operators may set of a user, in requests and imports, beside the login. */
export const userSettings = optional({
  display_name: DisplayName,
  description: Description,
  links: listSchema(ProfileLink, 0, MAX_LINKS),
  broadcaster_type: Type.Enum(BROADCASTER_TYPES),
  email: orNull(
    Email,
    'Shown only to the user, and to clients with the scope `user:read:email`. Null: none.',
  ),
})

export const User = resource('User', 'A user, as the control API shows it.', {
  id: Type.String(),
  login: Type.String({ description: 'Lower case.' }),
  display_name: Type.String(),
  description: Type.String(),
  links: Type.Array(Type.String(), { description: 'Each a label and an https URL, separated by a space.' }),
  broadcaster_type: Type.Enum(BROADCASTER_TYPES),
  email: orNull(Type.String()),
  created_at: TimeMillis,
  suspended_at: orNull(TimeMillis, 'Null: not suspended.'),
  suspension_reason: Type.String({ description: 'For operators; empty if none was given.' }),
})
export type User = Static<typeof User>

export const PasswordReset = resource('PasswordReset', 'A link with which a user can set a password.', {
  reset_url: Type.String({ description: 'Anyone who has it can set the password.' }),
  expires_at: TimeMillis,
})

/** A line of the report about a deletion. */
export const DeletedRows = resource(
  'DeletedRows',
  'Data of a user who was deleted, and what becomes of it.',
  {
    data: Type.String({ description: 'A table of docs/schema.md, or `media` or `backups`.' }),
    result: Type.Enum(['removed', 'kept']),
    rows: orNull(Type.Integer({ minimum: 0 }), 'Rows or files. Null: unknown.'),
    reason: Type.String({ description: 'Why it is kept, and how long; empty if it is gone.' }),
  },
)
export type DeletedRows = Static<typeof DeletedRows>

export const exampleDeletedRows: DeletedRows[] = [
  { data: 'users', result: 'removed', rows: 1, reason: '' },
  { data: 'follows', result: 'removed', rows: 312, reason: '' },
  {
    data: 'organization_entitlements',
    result: 'kept',
    rows: 4,
    reason: 'They belong to the organizations that granted them, and stay until these have them deleted.',
  },
]

export const exampleUser: User = {
  id: '141981764',
  login: 'lunar_otter',
  display_name: 'Lunar_Otter',
  description: 'Night dives and slow games.',
  links: ['Schedule https://otter.example.com/schedule'],
  broadcaster_type: 'affiliate',
  email: 'otter@example.com',
  created_at: '2026-02-01T09:30:00.000Z',
  suspended_at: null,
  suspension_reason: '',
}
