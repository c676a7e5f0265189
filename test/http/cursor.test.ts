import { expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import type { Key } from '../../src/contract/page.ts'
import { type Bookmark, Cursors } from '../../src/http/endpoint/cursor.ts'
import { KeyRing, type MasterKey } from '../../src/kit/crypto/key-ring.ts'
import { anyCharacter, runs } from '../support/properties.ts'

const masterKey = (id: string): MasterKey => ({ id, bytes: new Uint8Array(randomBytes(32)) })
const [older, newer, foreign] = [masterKey('older'), masterKey('newer'), masterKey('foreign')]
const cursors = new Cursors(new KeyRing([newer]))

/** Sort keys as lists have them: ids, times and numbers. */
const key: fc.Arbitrary<Key> = fc.array(
  fc.oneof(
    fc.string({ unit: 'grapheme-ascii', maxLength: 40 }),
    fc.uuid(),
    fc.date({ noInvalidDate: true }).map(date => date.toISOString()),
    fc.maxSafeInteger(),
  ),
  { minLength: 1, maxLength: 3 },
)
const bookmark: fc.Arbitrary<Bookmark> = fc.record({
  first: key,
  last: key,
  cursorState: fc.option(key, { nil: undefined }),
})
const binding = fc.string({ unit: 'grapheme', maxLength: 80 })

test('property: a cursor opens to the bookmark it was made from, in the characters that need no encoding', () => {
  fc.assert(
    fc.property(binding, bookmark, (bound, mark) => {
      const cursor = cursors.seal(bound, mark)
      expect(cursor).toMatch(/^[A-Za-z0-9_-]+$/)
      expect(encodeURIComponent(cursor)).toBe(cursor)
      expect(cursors.open(bound, cursor)).toEqual({ cursorState: undefined, ...mark })
    }),
    { numRuns: runs(500) },
  )
})

test('no single bit of 100 cursors can be turned over', () => {
  for (const [bound, mark] of fc.sample(fc.tuple(binding, bookmark), 100)) {
    const cursor = cursors.seal(bound, mark)
    const bytes = Buffer.from(cursor, 'base64url')
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const altered = Buffer.from(bytes)
      altered[bit >> 3] = (altered[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      expect(cursors.open(bound, altered.toString('base64url'))).toBeUndefined()
    }
  }
})

test('no single character of 100 cursors can be changed, left out or added', () => {
  for (const [bound, mark] of fc.sample(fc.tuple(binding, bookmark), 100)) {
    const cursor = cursors.seal(bound, mark)
    for (let place = 0; place < cursor.length; place++) {
      const [head, tail] = [cursor.slice(0, place), cursor.slice(place + 1)]
      for (const letter of ['A', '_', '+', '=', ' ', 'é', '\0']) {
        if (cursor[place] !== letter) expect(cursors.open(bound, head + letter + tail)).toBeUndefined()
      }
      expect(cursors.open(bound, head + tail)).toBeUndefined()
      expect(cursors.open(bound, head)).toBeUndefined()
    }
    for (const more of ['A', '=', '==', '\n', ' ', '.']) {
      expect(cursors.open(bound, cursor + more)).toBeUndefined()
      expect(cursors.open(bound, more + cursor)).toBeUndefined()
    }
  }
})

test('property: a cursor opens for its binding only', () => {
  fc.assert(
    fc.property(binding, binding, bookmark, (bound, other, mark) => {
      fc.pre(bound !== other)
      expect(cursors.open(other, cursors.seal(bound, mark))).toBeUndefined()
    }),
    { numRuns: runs(500) },
  )
})

test('property: any other text is no cursor, and nothing is thrown', () => {
  const bytes = fc.uint8Array({ maxLength: 80 }).map(each => Buffer.from(each).toString('base64url'))
  const versioned = fc
    .uint8Array({ maxLength: 80 })
    .map(each => Buffer.concat([Uint8Array.of(1), each]).toString('base64url'))
  fc.assert(
    fc.property(
      binding,
      fc.oneof(fc.string({ unit: anyCharacter }), fc.base64String(), bytes, versioned),
      (bound, text) => {
        expect(cursors.open(bound, text)).toBeUndefined()
      },
    ),
    { numRuns: runs(2000) },
  )
})

test('while keys are exchanged, cursors of the old one open, and new ones are made with the new one', () => {
  const before = new Cursors(new KeyRing([older]))
  const during = new Cursors(new KeyRing([newer, older]))
  const after = new Cursors(new KeyRing([newer]))
  const mark: Bookmark = { first: [3, 'a'], last: [1, 'b'], cursorState: [7] }
  const old = before.seal('list', mark)
  expect(during.open('list', old)).toEqual(mark)
  expect(during.open('another list', old)).toBeUndefined()
  expect(after.open('list', old)).toBeUndefined()

  const fresh = during.seal('list', mark)
  expect(after.open('list', fresh)).toEqual(mark)
  expect(before.open('list', fresh)).toBeUndefined()
  expect(new Cursors(new KeyRing([foreign])).open('list', fresh)).toBeUndefined()
})
