import type { TSchema } from 'typebox'
import { formatThousands } from '../format-thousands.ts'
import { Type } from '../schema.ts'

/**
 * A list in a request to the control API. Because of `size`, messages about its length speak of entries, and messages about
 * an entry give its position. (For lists of the public API, D-10 fixes the message.)
 */
export function listSchema<Item extends TSchema>(item: Item, least: number, most: number) {
  const bounds =
    least === 0 ? `at most ${formatThousands(most)}` : `${formatThousands(least)} to ${formatThousands(most)}`
  return Type.Array(item, {
    ...(least > 0 && { minItems: least }),
    maxItems: most,
    size: `${bounds} entries`,
  })
}
