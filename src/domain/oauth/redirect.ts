import { REDIRECT_URI_PATTERN } from '../../contract/resources/redirect-uri.ts'

/**
 * Where an application may redirect users to. URIs are compared as text, because parsers disagree about their meaning.
 * Only the port of a loopback address may differ, because a program on the user's machine uses any free port (RFC 8252).
 */
const LOOPBACK =
  /^(http:\/\/(?:127\.0\.0\.1|\[::1\]|localhost))(?::([1-9][0-9]{0,4}))?((?:[/?][\x21-\x7e]*)?)$/

/** Checked for the given URI too, because the store may contain URIs that were registered under weaker rules. */
const ALLOWED = new RegExp(REDIRECT_URI_PATTERN)

export function isRegisteredRedirect(registered: readonly string[], given: string): boolean {
  if (!ALLOWED.test(given)) return false
  if (registered.includes(given)) return true
  const anyPort = withoutPort(given)
  return anyPort !== undefined && registered.some(each => withoutPort(each) === anyPort)
}

/** A loopback URI without its port; undefined for any other. */
function withoutPort(uri: string): string | undefined {
  const [, host, port, rest] = LOOPBACK.exec(uri) ?? []
  return host === undefined || Number(port ?? 80) > 65_535 ? undefined : `${host}${rest}`
}

/** The redirect URI with parameters added to its query string or fragment. */
export function withParameters(
  redirect_uri: string,
  parameters: Readonly<Record<string, string | undefined>>,
  where: 'query' | 'fragment',
): string {
  const given = Object.entries(parameters).filter((each): each is [string, string] => each[1] !== undefined)
  const text = new URLSearchParams(given).toString()
  if (where === 'fragment') return `${redirect_uri}#${text}`
  return `${redirect_uri}${redirect_uri.includes('?') ? '&' : '?'}${text}`
}
