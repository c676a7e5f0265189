import { type Refusal, refuse } from '../contract/problem.ts'
import { normalizeName } from './search/normalize-name.ts'

const MAX_TAGS = 10
const TAG = /^[\p{L}\p{M}\p{N}]{1,25}$/u

/** The tags of a channel as they are stored (D-80): of tags that differ only in case, the first spelling is kept. */
export function checkTags(tags: readonly string[]): readonly string[] | Refusal<'malformed_parameter'> {
  const distinct = new Map<string, string>()
  for (const tag of tags) {
    if (!TAG.test(tag)) {
      const shown = [...tag].slice(0, 40).join('')
      return refuse('malformed_parameter', 'tags', `the tag "${shown}" must be 1 to 25 letters or digits`)
    }
    const normalized = normalizeName(tag)
    if (!distinct.has(normalized)) distinct.set(normalized, tag)
  }
  if (distinct.size > MAX_TAGS)
    return refuse('malformed_parameter', 'tags', `the value must have at most ${MAX_TAGS} entries`)
  return [...distinct.values()]
}
