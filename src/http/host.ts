/** A host name or an address, IPv6 in brackets. HTTP/1.0 clients may send an empty one. */
const HOST = /^(?:[A-Za-z0-9._-]{0,255}|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{0,5})?$/

/** Two Host headers arrive joined by a comma, which is malformed as well (RFC 9112, 3.2). */
export function isWellFormedHost(host: string | null): boolean {
  return host === null || HOST.test(host)
}
