/** Text as searches compare it: without the difference between upper and lower case. */
export function normalizeName(text: string): string {
  return text.normalize('NFC').toLowerCase()
}
