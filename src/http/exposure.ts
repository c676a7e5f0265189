/**
 * Prevents accidental exposure of the control API. Where it shares a loopback listener with the public API, a reverse proxy
 * on the same machine would make it public. A proxied request carries a proxy's headers or a public host name; so does one
 * from a page of another site whose name resolves to this machine (DNS rebinding).
 */
const PROXY_HEADERS = [
  'x-forwarded-for',
  'forwarded',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-real-ip',
  'via',
] as const

/** `localhost`, names below it, `127.0.0.0/8` and `[::1]`, with or without a port. */
const THIS_MACHINE = /^(?:(?:[a-z0-9-]+\.)*localhost|127(?:\.[0-9]{1,3}){3}|\[::1\])(?::[0-9]+)?$/i

/** Whether a request appears to come directly from a program on this machine. */
export function isFromThisMachine(headers: Headers): boolean {
  if (PROXY_HEADERS.some(name => headers.has(name))) return false
  const host = headers.get('host')
  return host === null || THIS_MACHINE.test(host)
}
