import { expect, test } from 'bun:test'
import { isRefusal, Problem } from '../../src/contract/problem.ts'
import { checkTags } from '../../src/domain/tags.ts'

function whyNot(...tags: string[]): string | undefined {
  const checked = checkTags(tags)
  return isRefusal(checked) ? new Problem(checked).message : undefined
}

const numbered = (count: number) => Array.from({ length: count }, (_, index) => `Tag${index}`)

test('tags are letters, marks and digits of any script, at most 25 code points each (D-80)', () => {
  for (const tag of ['Relaxed', 'Čau', 'Cau\u030c', '深海', 'हिन्दी', '7', '𐐀'.repeat(25), 'x'.repeat(25)])
    expect(checkTags([tag])).toEqual([tag])
  for (const tag of ['', 'two words', 'a-b', 'a_b', '#x', '🦦', 'x'.repeat(26), 'a\nb'])
    expect(whyNot('Good', tag)).toBe(
      `The parameter "tags" was malformed: the tag "${tag}" must be 1 to 25 letters or digits`,
    )
  expect(whyNot('!'.repeat(10_000))?.length).toBeLessThan(150)
})

test('tags that differ only in case count once, in their first spelling (D-80)', () => {
  expect(checkTags(['Sea', 'SEA', 'deep', 'sea', 'Deep'])).toEqual(['Sea', 'deep'])
  expect(checkTags(['Été', 'E\u0301TE\u0301'])).toEqual(['Été'])
  expect(checkTags([])).toEqual([])
})

test('at most ten tags, not counting repeated ones (D-80)', () => {
  expect(checkTags([...numbered(10), 'TAG0'])).toEqual(numbered(10))
  expect(whyNot(...numbered(11))).toBe(
    'The parameter "tags" was malformed: the value must have at most 10 entries',
  )
})
