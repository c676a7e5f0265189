/** A longer run: TEST_CASES=10000000, TEST_PARSER=AMF0,cursors for some parsers, TEST_SEED for other cases. */
import { expect, test } from 'bun:test'
import { formatResult, fuzz } from './fuzz.ts'
import { PARSERS } from './parsers.ts'

const CASES = Number(process.env.TEST_CASES || 100_000)
const SEED = Number(process.env.TEST_SEED || 1)
const only = process.env.TEST_PARSER?.split(',')

for (const parser of PARSERS.filter(({ name }) => only?.includes(name) ?? true))
  test(
    `${parser.name}: ${CASES} mutated cases are accepted or refused`,
    async () => {
      const result = await fuzz(parser, { cases: CASES, seed: SEED })
      process.stderr.write(`${formatResult(result)}\n`)
      expect(result.findings).toEqual([])
      expect(result.cases).toBe(CASES)
    },
    4 * 3_600_000,
  )
