import { expect, test } from 'bun:test'
import { UNUSED_FORMATS } from '../../build/program-bundle.ts'
import { operations } from '../../src/contract/index.ts'

test('the program has the check of every format that a declaration has', () => {
  const declared = [...JSON.stringify(operations).matchAll(/"format":"([a-z-]+)"/g)].map(
    ([, format]) => format,
  )
  expect(declared).toContain('date-time')
  expect(UNUSED_FORMATS.filter(format => declared.includes(format))).toEqual([])
})
