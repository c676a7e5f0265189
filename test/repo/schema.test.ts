import { expect, test } from 'bun:test'
import TypeBox from 'typebox'
import { Type } from '../../src/contract/schema.ts'

/** Every word, with options and without. */
function sentences(words: typeof Type) {
  const text = words.String({ minLength: 1, pattern: '^a' })
  const maybe = words.Optional(words.Array(words.String(), { maxItems: 3, description: 'some' }))
  const shared = words.Object({ text, maybe, flag: words.Boolean() }, { description: 'shared' })
  return [
    text,
    words.Integer({ minimum: 0, maximum: 5 }),
    words.Boolean({ description: 'yes or no' }),
    words.Null(),
    words.Unknown(),
    words.Unknown({ description: 'anything' }),
    words.Literal('live'),
    words.Enum(['a', 'b'], { description: 'one of them' }),
    words.Union([words.String(), words.Literal(''), words.Null()], { description: 'either' }),
    words.Record(words.String(), words.Integer({ minimum: 0 }), { maxProperties: 4 }),
    shared,
    words.Object({ ...shared.properties, more: words.Optional(text) }),
    words.Object({ maybe }),
    words.Object({}),
  ]
}

test('the words of the contract make what those of TypeBox make', () => {
  expect(sentences(Type).map(each => JSON.stringify(each))).toEqual(
    sentences(TypeBox).map(each => JSON.stringify(each)),
  )
})
