/** The console is on the operator listener only: the server decides that by the path. */
export const CONSOLE = '/console'

export const isConsolePath = (path: string): boolean => path === CONSOLE || path.startsWith(`${CONSOLE}/`)

/** The path of a resource, of one row of it, or of an action on that row. */
export const consolePath = (...parts: readonly string[]): string =>
  [CONSOLE, ...parts.map(encodeURIComponent)].join('/')
