import type { Address } from '../../config/config.ts'

/** The URL of a listener on this machine; loopback if it listens on all addresses. */
export function listenerUrl({ host, port }: Address): string {
  const address = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  return `http://${address.includes(':') ? `[${address}]` : address}:${port}`
}
