import { Type } from '../schema.ts'
import { listSchema } from './list.ts'

/**
 * Where an application may redirect users to: an absolute URI without a fragment. Native applications use private schemes
 * (`com.example.app:/callback`). Schemes that a browser executes, opens from disk or renders internally do not lead to an
 * application; with them a code or token could leak to a page that an attacker made.
 */
export const REDIRECT_URI_PATTERN =
  '^(?!(about|blob|data|file|filesystem|javascript|vbscript|view-source):)[a-z][a-z0-9+.-]*:[^#\\s]+$'

const RedirectUri = Type.String({
  maxLength: 2000,
  pattern: REDIRECT_URI_PATTERN,
  hint: 'an absolute URI without a fragment, not javascript:, data:, file: or similar',
})

export const RedirectUris = listSchema(RedirectUri, 0, 20)
