/** The name of scripts that are no island: shared by several, or loaded on demand. No island may have it. */
export const PART = 'part'
