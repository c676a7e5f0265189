interface Credentials {
  readonly client_id: string
  readonly client_secret: string
}

const MAX_LENGTH = 4000

/**
 * The client credentials in `Authorization: Basic`. Id and secret are form-encoded before they are joined (RFC 6749, 2.3.1).
 * Undefined if the header is absent or has another scheme.
 */
export function readBasicCredentials(header: string | null): Credentials | 'malformed' | undefined {
  const [, encoded] = /^basic +(.*)$/i.exec(header ?? '') ?? []
  if (encoded === undefined) return undefined
  if (encoded.length > MAX_LENGTH || !/^[A-Za-z0-9+/]+={0,2}$/.test(encoded)) return 'malformed'
  const text = Buffer.from(encoded, 'base64').toString('utf8')
  const colon = text.indexOf(':')
  if (colon < 1) return 'malformed'
  const client_id = decodeFormValue(text.slice(0, colon))
  const client_secret = decodeFormValue(text.slice(colon + 1))
  if (client_id === undefined || client_secret === undefined) return 'malformed'
  return { client_id, client_secret }
}

function decodeFormValue(text: string): string | undefined {
  try {
    const plain = decodeURIComponent(text.replaceAll('+', ' '))
    return /^[\x20-\x7e]*$/.test(plain) ? plain : undefined
  } catch {
    return undefined
  }
}
