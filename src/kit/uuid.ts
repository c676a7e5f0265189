/** UUIDs as the 16 bytes that they spell. The order of the bytes is that of the text. */
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** Whether a text is a UUID in lower case. */
export function isUuid(text: string): boolean {
  return UUID.test(text)
}

export function uuidBytes(text: string): Uint8Array {
  return Uint8Array.fromHex(text.replaceAll('-', ''))
}

export function uuidText(bytes: Uint8Array): string {
  const hex = bytes.toHex()
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}
