/** Some thousand cases for each parser; the full tier has more. */
import { describe, expect, test } from 'bun:test'
import { type FuzzedParser, fuzz, type Outcome } from './fuzz.ts'
import { PARSERS } from './parsers.ts'

const CASES = 3000

describe('mutated input', () => {
  for (const parser of PARSERS)
    test(`${parser.name}: ${CASES} cases are accepted or refused`, async () => {
      const result = await fuzz(parser, { cases: CASES, seed: 1 })
      expect(result.findings).toEqual([])
      expect(result.cases).toBe(CASES)
      // A fuzzer whose input is all valid, or all refused, would test nothing.
      expect(result.accepted).toBeGreaterThan(CASES / 100)
      expect(result.refused).toBeGreaterThan(CASES / 100)
    })
})

describe('the fuzzer finds', () => {
  const seeds = [Buffer.from('length:0005 body')]
  const parsing = (parse: FuzzedParser['parse']): FuzzedParser => ({ name: 'planted', seeds, parse })

  test('an error that is not declared, with input that repeats it', async () => {
    const planted = parsing(bytes => {
      if (bytes[3] === 0xff) throw new TypeError('undefined is not an object')
      return 'refused'
    })
    const { findings } = await fuzz(planted, { cases: 50_000, seed: 1 })
    expect(findings.length).toBeGreaterThan(0)
    const [found] = findings
    expect(found?.message).toContain('undefined is not an object')
    expect(Buffer.from(JSON.parse(found?.input ?? '""'), 'latin1')[3]).toBe(0xff)
    const again = await fuzz(planted, { cases: 1, seed: found?.seed ?? 0 })
    expect(again.findings[0]).toMatchObject({ input: found?.input, seed: found?.seed })
  })

  test('an error of a parser that answers later', async () => {
    const planted = parsing(async (bytes): Promise<Outcome> => {
      if (bytes.length < 5) throw new RangeError('too short')
      return 'accepted'
    })
    expect((await fuzz(planted, { cases: 5000, seed: 1 })).findings[0]?.message).toContain('too short')
  })

  test('a case that takes too long', async () => {
    const planted = parsing(bytes => {
      if (bytes.length === 16 && bytes[0] !== 0x6c) Bun.sleepSync(60)
      return 'refused'
    })
    const { findings } = await fuzz(planted, { cases: 2000, seed: 1, maxMilliseconds: 50 })
    expect(findings[0]?.message).toMatch(/^took \d+ ms$/)
  })

  test('memory that is not returned', async () => {
    const kept: Uint8Array[] = []
    const planted = parsing(() => {
      kept.push(new Uint8Array(4096).fill(1))
      return 'refused'
    })
    const { findings } = await fuzz(planted, { cases: 6000, seed: 1, maxGrowthBytes: 8 * 1024 * 1024 })
    expect(findings.map(({ message }) => message)).toEqual([
      expect.stringMatching(/^\d+ MiB more are in use/),
    ])
  })

  test('the same with the same seed, and something else with another', async () => {
    const inputs = async (seed: number) => {
      const seen: string[] = []
      await fuzz(
        parsing(bytes => {
          seen.push(bytes.toString('latin1'))
          return 'accepted'
        }),
        { cases: 200, seed },
      )
      return seen
    }
    const first = await inputs(7)
    expect(await inputs(7)).toEqual(first)
    expect(await inputs(8)).not.toEqual(first)
    expect(new Set(first).size).toBeGreaterThan(100)
  })
})
