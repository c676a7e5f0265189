/**
 * Keeps the operator's side from being published by accident. Where it shares a loopback listener with the public side, a
 * proxy on the same machine that passes everything on would give it to the world. What a proxy passes on carries its
 * marks, or the name that the outside world calls; so does a page of another site that had its name point to this machine.
 */
const MARKS_OF_PROXIES = [
  'x-forwarded-for',
  'forwarded',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-real-ip',
  'via',
] as const

/** `localhost`, `127.0.0.1` and `[::1]`, with or without a port, and names under localhost, which are this machine too. */
const THIS_MACHINE = /^(?:(?:[a-z0-9-]+\.)*localhost|127(?:\.[0-9]{1,3}){3}|\[::1\])(?::[0-9]+)?$/i

/** Whether a request was sent to this machine by a program on it, as far as can be told. */
export function isFromThisMachine(headers: Headers): boolean {
  if (MARKS_OF_PROXIES.some(name => headers.has(name))) return false
  const host = headers.get('host')
  return host === null || THIS_MACHINE.test(host)
}
