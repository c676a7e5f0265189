import type { TSchema } from 'typebox'
import { Type } from '../schema.ts'

/**
 * A list that the operator gives. Its `size` makes a sentence about its length speak of entries, and one about an entry name
 * which. (The lists of the public side have the sentence that D-10 fixes.)
 */
export function listOf<Item extends TSchema>(item: Item, least: number, most: number) {
  const bounds = least === 0 ? `at most ${counted(most)}` : `${counted(least)} to ${counted(most)}`
  return Type.Array(item, {
    ...(least > 0 && { minItems: least }),
    maxItems: most,
    size: `${bounds} entries`,
  })
}

function counted(entries: number): string {
  return entries.toLocaleString('en-US')
}
