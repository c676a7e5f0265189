import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { type Amf, decodeAmf, encodeAmf } from '../../src/media/rtmp/amf0.ts'
import { ProtocolError } from '../../src/media/rtmp/protocol-error.ts'
import { runs } from '../support/properties.ts'

const text = fc.string({ unit: 'grapheme', maxLength: 40 })
const { value } = fc.letrec<{ value: Amf }>(tie => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.double({ noNaN: true }),
    fc.boolean(),
    text,
    fc.constant(null),
    fc.constant(undefined),
    fc.array(tie('value'), { maxLength: 4 }),
    fc
      .uniqueArray(
        fc.tuple(
          text.filter(name => name !== ''),
          tie('value'),
        ),
        {
          maxLength: 4,
          selector: ([name]) => name,
        },
      )
      .map(fields => new Map(fields)),
  ),
}))

test('values survive encoding and decoding', () => {
  fc.assert(
    fc.property(fc.array(value, { maxLength: 5 }), values => {
      expect(decodeAmf(encodeAmf(...values))).toEqual(values)
    }),
  )
})

test('property: any bytes give values or a protocol error', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), bytes => {
      try {
        decodeAmf(bytes)
      } catch (error) {
        expect(error).toBeInstanceOf(ProtocolError)
      }
    }),
    { numRuns: runs(5000) },
  )
})

test('a value nested deeply, or an array that claims to be huge, is rejected before memory is spent', () => {
  const nested = Buffer.concat(new Array(5000).fill(Buffer.from([3, 0, 1, 97])))
  expect(() => decodeAmf(nested)).toThrow('nested too deeply')
  expect(() => decodeAmf(Buffer.from([10, 0xff, 0xff, 0xff, 0xff]))).toThrow('too many AMF0 values')
  expect(() => decodeAmf(Buffer.alloc(5000, 5))).toThrow('too many AMF0 values')
})

test('the keys of an object reach no prototype', () => {
  const [decoded] = decodeAmf(encodeAmf(new Map([['__proto__', new Map([['polluted', true]])]])))
  expect(decoded).toEqual(new Map([['__proto__', new Map([['polluted', true]])]]))
  expect(({} as Record<string, unknown>).polluted).toBeUndefined()
})
