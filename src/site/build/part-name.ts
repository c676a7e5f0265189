/**
 * The name of scripts that are no island: shared by several, or loaded on demand. No island may have it. It is not in
 * `bundle.ts`, because the build of the executable replaces that file.
 */
export const PART = 'part'
