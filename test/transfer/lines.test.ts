import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { linesOf, MAX_LINE_BYTES, type NumberedLine } from '../../src/transfer/lines.ts'
import { SeenLines } from '../../src/transfer/seen.ts'
import { anyCharacter } from '../support/properties.ts'

async function* cutAt(bytes: Uint8Array, cuts: readonly number[]): AsyncGenerator<Uint8Array> {
  const places = [0, ...cuts.map(cut => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length]
  for (const [index, place] of places.slice(1).entries()) yield bytes.slice(places[index], place)
}

async function read(bytes: Uint8Array, cuts: readonly number[] = []): Promise<NumberedLine[]> {
  const lines: NumberedLine[] = []
  for await (const some of linesOf(cutAt(bytes, cuts))) lines.push(...some)
  return lines
}

describe('lines', () => {
  test('are the same wherever the bytes are cut', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.string({ unit: anyCharacter }).map(text => text.replaceAll('\n', ' '))),
        fc.array(fc.nat()),
        async (texts, cuts) => {
          const expected = texts.flatMap((text, index) =>
            text.replace(index === 0 ? /^\ufeff/ : /$^/, '').trim() === ''
              ? []
              : [{ number: index + 1, text: index === 0 ? text.replace(/^\ufeff/, '') : text }],
          )
          expect(await read(new TextEncoder().encode(texts.join('\n')), cuts)).toEqual(expected)
        },
      ),
    ))

  test('that are not UTF-8 are reported by their number, and the others are read', async () => {
    const bytes = Buffer.concat([Buffer.from('a\n'), Buffer.from([0xff, 0x0a]), Buffer.from('c\n')])
    for (let cut = 0; cut <= bytes.length; cut++) {
      expect(await read(bytes, [cut])).toEqual([
        { number: 1, text: 'a' },
        { number: 2, violation: 'it is not UTF-8' },
        { number: 3, text: 'c' },
      ])
    }
  })

  test('of the greatest length are read, longer ones are reported, wherever they are cut', async () => {
    const [fits, long] = ['x'.repeat(MAX_LINE_BYTES), 'x'.repeat(MAX_LINE_BYTES + 1)]
    const bytes = Buffer.from(`${fits}\n${long}\ny\n`)
    for (const cuts of [[], [5], [MAX_LINE_BYTES + 5], [MAX_LINE_BYTES + 5, 2 * MAX_LINE_BYTES + 2]]) {
      const lines = await read(bytes, cuts)
      expect(lines.map(line => [line.number, line.text?.length])).toEqual([
        [1, MAX_LINE_BYTES],
        [2, undefined],
        [3, 1],
      ])
    }
  })
})

test('what was seen is known, and nothing else, however much it is', () => {
  const seen = new SeenLines()
  for (let n = 0; n < 100_000; n++) expect(seen.add('user', String(n))).toBe(true)
  for (let n = 0; n < 100_000; n++) {
    if (!seen.has('user', String(n)) || seen.has('game', String(n))) throw new Error(`lost ${n}`)
  }
  expect(seen.add('user', '7')).toBe(false)
})
