/** The schema of scenario files, which editors read: keywords of JSON Schema alone, and the samples are valid by it. */
import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { Compile } from 'typebox/schema'
import { scenarioSchema } from '../../src/contract/reference/scenario-schema.ts'

const schema = scenarioSchema()
const isValid = (scenario: unknown) => Compile(schema as never).Check(scenario)

test('it has no annotations of the contract', () => {
  expect(JSON.stringify(schema)).not.toMatch(
    /"(hint|size|kept|secret|refersTo|nullIsAbsent|numberIsText|digitsAreInteger|emptyIsValue)":/,
  )
})

test('the samples are valid, and mistakes are not', () => {
  const samples = readdirSync('docs/scenarios').filter(name => name.endsWith('.json'))
  expect(samples.length).toBeGreaterThan(3)
  for (const name of samples)
    expect([name, isValid(JSON.parse(readFileSync(`docs/scenarios/${name}`, 'utf8')))]).toEqual([name, true])
  const mistakes = [
    { user: {} },
    { entitlements: { stuck: { fulfillment_status: 'GIVEN' } } },
    { users: { star: { stream: { viewer_count: -1 } } } },
    { grants: { launch: {} } },
    { faults: [{ operation: 'GetStreams', outcome: 'slow', entitlement: 'x' }] },
  ]
  for (const mistake of mistakes) expect([mistake, isValid(mistake)]).toEqual([mistake, false])
})
