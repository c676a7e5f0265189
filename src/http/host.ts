/** A name or an address as clients write it; an IPv6 address stands in brackets. Empty is what HTTP/1.0 may send. */
const HOST = /^(?:[A-Za-z0-9._-]{0,255}|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{0,5})?$/

/** Two Host headers arrive here as one text with a comma in it, and are malformed too (RFC 9112, 3.2). */
export function isWellFormedHost(host: string | null): boolean {
  return host === null || HOST.test(host)
}
