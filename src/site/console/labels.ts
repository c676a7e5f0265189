import { fieldNamed } from '../../contract/admin/fields.ts'

/** The name of a field as people read it. */
export function toLabel(name: string): string {
  const words =
    fieldNamed(name).label ??
    name
      .replace(/_ids?$/, '')
      .replace(/_at$/, '')
      .replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}
