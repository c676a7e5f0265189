interface Credentials {
  readonly client_id: string
  readonly client_secret: string
}

const LONGEST = 4000

/**
 * The credentials of a client in `Authorization: Basic`: both are form-encoded before they are put together (RFC 6749, 2.3.1).
 * Undefined if the header is absent or of another scheme.
 */
export function readBasicCredentials(header: string | null): Credentials | 'malformed' | undefined {
  const [, encoded] = /^basic +(.*)$/i.exec(header ?? '') ?? []
  if (encoded === undefined) return undefined
  if (encoded.length > LONGEST || !/^[A-Za-z0-9+/]+={0,2}$/.test(encoded)) return 'malformed'
  const text = Buffer.from(encoded, 'base64').toString('utf8')
  const colon = text.indexOf(':')
  if (colon < 1) return 'malformed'
  const client_id = decoded(text.slice(0, colon))
  const client_secret = decoded(text.slice(colon + 1))
  if (client_id === undefined || client_secret === undefined) return 'malformed'
  return { client_id, client_secret }
}

function decoded(text: string): string | undefined {
  try {
    const plain = decodeURIComponent(text.replaceAll('+', ' '))
    return /^[\x20-\x7e]*$/.test(plain) ? plain : undefined
  } catch {
    return undefined
  }
}
