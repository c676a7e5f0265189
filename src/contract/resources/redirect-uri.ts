import { Type } from '../schema.ts'
import { listOf } from './list.ts'

/**
 * Where an application may have people sent back to: an absolute URI without a fragment. Native applications have schemes of
 * their own (`com.example.app:/callback`). Those which a browser runs, opens from the disk or shows by itself lead to no
 * application, and a code or token would end in a page of somebody else's making.
 */
export const REDIRECT_URI_PATTERN =
  '^(?!(about|blob|data|file|filesystem|javascript|vbscript|view-source):)[a-z][a-z0-9+.-]*:[^#\\s]+$'

const RedirectUri = Type.String({
  maxLength: 2000,
  pattern: REDIRECT_URI_PATTERN,
  hint: 'an absolute URI without a fragment, of a scheme that leads to an application (not javascript:, data:, file: or the like)',
})

export const RedirectUris = listOf(RedirectUri, 0, 20)
