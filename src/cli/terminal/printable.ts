/** A value as text. Escapes control characters, which users may have put into a text and a terminal would interpret. */
export function printable(value: unknown): string {
  if (value === undefined || value === null || value === '') return '-'
  if (Array.isArray(value)) return value.length === 0 ? '-' : value.map(printable).join(', ')
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
  return text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, character => {
    return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`
  })
}
