import { describe, expect, test } from 'bun:test'
import { describeOddOperations, jsonWith } from './odd-text.ts'

describeOddOperations(16)

describe('the texts', () => {
  test('are put into JSON as they are', () => {
    expect(new TextDecoder().decode(jsonWith({ a: 1 }, 'b', 'x%00%22'))).toBe('{"a":1,"b":"x\\u0000\\u0022"}')
    expect([...jsonWith({}, 'b', '%FF')]).toContain(0xff)
  })
})
